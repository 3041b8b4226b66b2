"""Programs and arrays from files: text, wire bytes, a kernel in a Python file; .npy and raw bytes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.ir.program import Program


def read_program(name: str) -> Program:
    """Reads `FILE` (text or wire, told apart by the magic) or `FILE.py:KERNEL`."""
    path, _, kernel = name.partition(".py:")
    if kernel:
        return _kernel_program(path + ".py", kernel)
    if name.endswith(".py"):
        raise VyreError(
            f"{name} is a Python file, which may hold several kernels.",
            fix=f"name the kernel: {name}:my_kernel.",
        )
    from vyre.ir.program import Program
    from vyre.wire import MAGIC

    data = read_bytes(name)
    if data.startswith(MAGIC):
        return Program.from_wire(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise VyreError(
            f"{name} is neither a wire form (magic {MAGIC!r}) nor UTF-8 text.",
            place=f"{name}: byte {error.start}",
            fix="pass a file written by `vyre print` or Program.to_wire().",
        ) from None
    return Program.from_text(text, file=name)


def read_bytes(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise VyreError(
            f"cannot read {name}: {error.strerror}.", fix="check the path and its permissions."
        ) from None


def write_bytes(name: str, data: bytes) -> None:
    """Writes through a temporary file, so that a full disk leaves no half-written result."""
    path = Path(name)
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise VyreError(
            f"cannot write {name}: {error.strerror}.", fix="check the path, its permissions and free space."
        ) from None


def _kernel_program(path: str, kernel: str) -> Program:
    read_bytes(path)
    try:
        names: dict[str, Any] = runpy.run_path(path)
    except VyreError:
        raise
    except Exception as error:  # the user's own file may raise anything
        raise VyreError(
            f"running {path} failed: {type(error).__name__}: {error}.", fix="make the file importable."
        ) from error
    found = names.get(kernel)
    program = getattr(found, "program", None)
    if program is None:
        kernels = sorted(k for k, v in names.items() if hasattr(v, "program"))
        known = f" It has {', '.join(kernels)}." if kernels else ""
        raise VyreError(
            f"{path} has no kernel named {kernel!r}.{known}",
            fix="name a function decorated with @vyre.kernel.",
        )
    return program


def split_binding(option: str) -> tuple[str, str]:
    """`a=a.npy` as (`a`, `a.npy`)."""
    name, equals, path = option.partition("=")
    if not equals or not name or not path:
        raise VyreError(f"{option!r} is not NAME=FILE.", fix="write it like a=a.npy.")
    return name, path


def read_array(path: str) -> Any:
    """An array from `.npy`; the bytes of any other file."""
    if not path.endswith(".npy"):
        return read_bytes(path)
    import io

    import numpy as np

    try:
        return np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise VyreError(f"{path} is not an .npy file: {error}.", fix="save it with numpy.save.") from None


def write_array(path: str, array: Any) -> None:
    """Saves `.npy`, or the raw little-endian bytes under any other name."""
    import io

    import numpy as np

    if not path.endswith(".npy"):
        write_bytes(path, array.tobytes())
        return
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    write_bytes(path, buffer.getvalue())
