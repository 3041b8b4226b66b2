"""What is agreed on before a program runs, and the room that its buffers may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from vyre.backends.chosen import require_backend
from vyre.errors import DispatchError
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend, BackendInfo, BackendLimits
    from vyre.compose.registry import Registry
    from vyre.ir.outline import Outline
    from vyre.ir.program import Program
    from vyre.ir.signature import Convention


class Agreed(NamedTuple):
    """A program that was validated and inlined, and what its backend said to it."""

    program: Program
    info: BackendInfo
    convention: Convention | None


def settled(
    program: Program,
    backend: Backend,
    registry: Registry | None = None,
    convention: Convention | None = None,
) -> Agreed:
    """The program as it is compiled, once everything is known to fit."""
    from vyre.backends.conventions import negotiate
    from vyre.backends.installed import require_known
    from vyre.backends.registry import described
    from vyre.compose.inline import inline
    from vyre.validate import check

    # Programs that were inlined before carry the reserved names of the inliner (decision 19).
    check(program, registry=registry, allow_reserved=True)
    info = described(backend)
    agreed = negotiate(program, info, convention)
    flat = inline(program, registry)
    require_known(flat, registry, backend.name)
    info.limits.require_workgroup(flat, backend.name)
    return Agreed(flat, info, agreed)


def require_usable(program: object, backend: object) -> None:
    """Raises `DispatchError` for what is not a program, or can compile none."""
    from vyre.ir.program import Program

    if not isinstance(program, Program):
        raise DispatchError(
            f"{type(program).__name__} is not a program.",
            fix="pass a vyre.Program, such as the .program of a kernel; a kernel itself is called.",
        )
    if backend is not None and not isinstance(backend, str):
        require_backend(backend)


def require_named(buffers: object, names: Sequence[str]) -> None:
    """Refuses buffers that come without their names."""
    if type(buffers) is dict or isinstance(buffers, Mapping):
        return
    example = names[0] if names else "a"
    raise DispatchError(
        f"the buffers of a call are a {type(buffers).__name__}, and they go by name.",
        fix=f'pass a dict: {{"{example}": {example}}}.',
    )


def require_room(outline: Outline, limits: BackendLimits, backend: str, sizes: Mapping[str, int]) -> None:
    """Raises `DispatchError` for buffers of so many bytes that the backend does not take."""
    for name, size in sizes.items():
        if limits.buffer_bytes is not None and size > limits.buffer_bytes:
            raise DispatchError(
                f"buffer {name!r} takes {size} bytes; the backend {backend} accepts "
                f"{limits.buffer_bytes} per buffer.",
                fix="split the buffer, or choose another backend.",
            )
    uniforms = [b.name for b in outline.buffers if b.access is BufferAccess.Uniform]
    for name in uniforms:
        if limits.uniform_bytes is not None and sizes[name] > limits.uniform_bytes:
            raise DispatchError(
                f"the uniform buffer {name!r} takes {sizes[name]} bytes; the backend {backend} "
                f"accepts {limits.uniform_bytes} per uniform buffer.",
                fix="make it a ReadOnly buffer, or choose another backend.",
            )
    if limits.buffers is not None and len(sizes) > limits.buffers:
        raise DispatchError(
            f"{len(sizes)} buffers are bound; the backend {backend} accepts {limits.buffers}.",
            fix="pack several buffers into one, or choose another backend.",
        )
