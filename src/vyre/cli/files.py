"""Programs and arrays from files: text, wire bytes, a kernel in a Python file; .npy and raw bytes."""

from __future__ import annotations

import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.ir.program import Program

_MAX_PROGRAM_BYTES = 64 * 1024 * 1024
_MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024


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

    data = read_bytes(name, limit=_MAX_PROGRAM_BYTES)
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


def read_document(name: str) -> bytes:
    """A certificate, an annex or a list: a file of a bounded size."""
    return read_bytes(name, limit=_MAX_DOCUMENT_BYTES)


def read_bytes(name: str, *, limit: int | None = None) -> bytes:
    """The whole file; more than `limit` bytes are an error, and are not read."""
    try:
        with Path(name).open("rb") as file:
            data = file.read() if limit is None else file.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise VyreError(
            f"cannot read {name!r}: {reason}.", fix="check the path and its permissions."
        ) from None
    except MemoryError:
        raise VyreError(f"{name!r} does not fit into memory.", fix="pass a smaller file.") from None
    if limit is not None and len(data) > limit:
        what = "program within the limits" if limit == _MAX_PROGRAM_BYTES else "document of vyre's"
        raise VyreError(
            f"{name!r} has more than {limit} bytes, which no {what} takes.",
            fix="pass a file that vyre has written.",
        )
    return data


def write_bytes(name: str, data: bytes) -> None:
    """Writes through a temporary file, so that a full disk leaves no half-written result.

    A device or a pipe is written as it is, and a link is followed: neither may be replaced by a file.
    """
    part = None
    try:
        path = Path(name).resolve()
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        part = path.with_name(path.name + ".part")
        part.write_bytes(data)
        part.replace(path)
    except (OSError, ValueError, RuntimeError) as error:  # a null byte in the name, a circle of links
        if part is not None:
            part.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise VyreError(
            f"cannot write {name!r}: {reason}.", fix="check the path, its permissions and free space."
        ) from None


def _kernel_program(path: str, kernel: str) -> Program:
    from vyre.frontend.kernel import Kernel
    from vyre.ir.program import Program

    read_bytes(path)
    try:
        with redirect_stdout(sys.stderr):  # what the file prints is no part of a command's output
            names: dict[str, Any] = runpy.run_path(path)
    except VyreError:
        raise
    except SystemExit as error:
        raise VyreError(
            f"running {path} ended in sys.exit({error.code!r}).",
            fix='put that under `if __name__ == "__main__":`.',
        ) from None
    except Exception as error:  # the user's own file may raise anything
        raise VyreError(
            f"running {path} failed: {type(error).__name__}: {error}.", fix="make the file importable."
        ) from error
    found = names.get(kernel)
    if isinstance(found, Kernel):
        return found.program
    if isinstance(found, Program):
        return found
    kernels = sorted(k for k, v in names.items() if isinstance(v, Kernel | Program))
    known = f" It has {', '.join(kernels)}." if kernels else ""
    raise VyreError(
        f"{path} has no kernel named {kernel!r}.{known}",
        fix="name a function decorated with @vyre.kernel.",
    )


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
        array = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except Exception as error:  # NumPy parses the header with Python's own parser, which has many errors
        raise VyreError(f"{path} is not an .npy file: {error}.", fix="save it with numpy.save.") from None
    if not isinstance(array, np.ndarray):
        raise VyreError(f"{path} holds several arrays.", fix="save each with numpy.save.")
    return array  # pyright: ignore[reportUnknownVariableType]


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
