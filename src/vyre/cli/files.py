"""Programs, graphs and arrays from files: text, wire bytes, a kernel in a Python file; .npy and raw bytes."""

from __future__ import annotations

import runpy
import sys
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.files import PROGRAM_BYTES, read_bytes, write_bytes

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from vyre.frontend.kernel import Kernel
    from vyre.graph import Graph
    from vyre.ir.program import Program

    Told = Mapping[str, Mapping[str, Any]]


def read_program(name: str) -> Program:
    """Reads `FILE` (text or wire, told apart by the magic) or `FILE.py:KERNEL`."""
    from vyre.ir.program import Program

    found = read_source(name)
    if not isinstance(found, Program):
        raise VyreError(
            f"{name} holds a graph of tensors, not a program.",
            fix="pass a program here; `vyre print` and `vyre validate` take graphs too.",
        )
    return found


def read_told(name: str) -> tuple[Program, Told]:
    """A program as `read_program` reads it, and what a kernel tells of its parameters (`Kernel.told`)."""
    program, kernel = read_kernel(name)
    return program, {} if kernel is None else kernel.told


def read_kernel(name: str) -> tuple[Program, Kernel | None]:
    """A program as `read_program` reads it, and the kernel that it is the program of, where it is one."""
    path, _, kernel = name.partition(".py:")
    return _named(path + ".py", kernel) if kernel else (read_program(name), None)


def read_source(name: str) -> Program | Graph:
    """A program as `read_program` reads it, or the graph of a file that holds one."""
    path, _, kernel = name.partition(".py:")
    if kernel:
        return _named(path + ".py", kernel)[0]
    if name.endswith(".py"):
        raise VyreError(
            f"{name} is a Python file, which may hold several kernels.",
            fix=f"name the kernel: {name}:my_kernel.",
        )
    from vyre.ir.program import Program
    from vyre.text import holds_graph, parse_graph
    from vyre.wire import GRAPH_MAGIC, MAGIC, decode_graph

    data = read_bytes(name, limit=PROGRAM_BYTES)
    if data.startswith(MAGIC):
        return Program.from_wire(data)
    if data.startswith(GRAPH_MAGIC):
        return decode_graph(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise VyreError(
            f"{name} is neither a wire form (magic {MAGIC!r}) nor UTF-8 text.",
            place=f"{name}: byte {error.start}",
            fix="pass a file written by `vyre print` or Program.to_wire().",
        ) from None
    return parse_graph(text, file=name) if holds_graph(text) else Program.from_text(text, file=name)


def _named(path: str, kernel: str) -> tuple[Program, Kernel | None]:
    from vyre.frontend.kernel import Kernel
    from vyre.ir.program import Program

    read_bytes(path)
    try:
        # What the file prints is not the command's output.
        with redirect_stdout(sys.stderr), _beside(path):
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
        return found.program, found
    if isinstance(found, Program):
        return found, None
    kernels = sorted(k for k, v in names.items() if isinstance(v, Kernel | Program))
    known = f" It has {', '.join(kernels)}." if kernels else ""
    raise VyreError(
        f"{path} has no kernel named {kernel!r}.{known}",
        fix="name a function decorated with @vyre.kernel.",
    )


@contextmanager
def _beside(path: str) -> Generator[None, None, None]:
    """Lets the file import its neighbours, as `python FILE` does."""
    folder = str(Path(path).resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def split_binding(option: str, form: str = "NAME=FILE", example: str = "a=a.npy") -> tuple[str, str]:
    """`a=a.npy` as (`a`, `a.npy`)."""
    name, equals, value = option.partition("=")
    if not equals or not name or not value:
        raise VyreError(f"{option!r} is not {form}.", fix=f"write it like {example}.")
    return name, value


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
