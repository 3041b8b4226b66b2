"""The convention between a host, a program and a backend, settled before anything is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.ir.convention import breach, kept
from vyre.ir.signature import V1, V2

if TYPE_CHECKING:
    from vyre.backends.protocol import BackendInfo
    from vyre.ir.program import Program
    from vyre.ir.signature import Convention


def negotiate(program: Program, info: BackendInfo, asked: Convention | None) -> Convention | None:
    """The convention of a program on a backend: the one that is `asked` for, else the simplest it keeps.

    None for a program that keeps none, whose buffers are bound by name. Raises `UnsupportedByBackend` where
    the backend does not declare the convention, and `DispatchError` where the program does not keep it.
    """
    if asked is None:
        found = kept(program.buffers)
        declared = [c for c in found if _name(c) in info.conventions]
        if found and not declared:
            raise _undeclared(found[0], info)
        return declared[0] if declared else None
    if not isinstance(asked, V1 | V2):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(
            f"{asked!r} is not a convention.",
            fix="pass convention=V1() or V2(lookup_binding=…), or leave it out.",
        )
    if _name(asked) not in info.conventions:
        raise _undeclared(asked, info)
    problem = breach(program.buffers, asked)
    if problem is not None:
        raise DispatchError(
            f"the program does not keep the convention {_name(asked)}: {problem[0]}.", fix=problem[1]
        )
    return asked


def _name(convention: Convention) -> str:
    return type(convention).__name__


def _undeclared(convention: Convention, info: BackendInfo) -> UnsupportedByBackend:
    fix = "choose a backend that declares it."
    if isinstance(convention, V2):
        fix += " A table that is bound in front of the outputs is an input, as V1 has it."
    return UnsupportedByBackend(
        f"the convention {_name(convention)}",
        info.name,
        why=f"it declares {', '.join(info.conventions) or 'none'}",
        fix=fix,
    )
