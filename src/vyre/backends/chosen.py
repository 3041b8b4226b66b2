"""Which backend a call takes that names none.

    with vyre.use("cuda"):   inside the block, in this thread or task alone
    vyre.use("cuda")         from here on, in every thread that has no block around it
    VYRE_BACKEND=cuda        where neither was said; the environment is read when vyre first needs it

Else it is `cpu`. The interpreter is never taken unless somebody named it.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from typing import TYPE_CHECKING

from vyre.errors import DispatchError, VyreError, boundary

if TYPE_CHECKING:
    from types import TracebackType

    from vyre.backends.protocol import Backend

VARIABLE = "VYRE_BACKEND"
FAST = "cpu"

_here: ContextVar[str | None] = ContextVar("vyre_backend", default=None)
_everywhere: list[str | None] = [None]


def default_name() -> str:
    """The name, whether such a backend is there or not. It takes a fraction of a microsecond."""
    name = _here.get() or _everywhere[0]
    if name is None:
        name = _everywhere[0] = os.environ.get(VARIABLE) or FAST
    return name


def default_backend() -> str:
    """The name of a backend that can be had. Raises `BackendUnavailable` or `DispatchError` otherwise."""
    name = default_name()
    chosen(name)
    return name


def chosen(backend: str | Backend | None) -> Backend:
    """The backend of a call that names one, passes one, or does neither."""
    from vyre.backends.registry import get

    if backend is not None and not isinstance(backend, str):
        require_backend(backend)
        return backend
    name = backend or default_name()
    try:
        return get(name)
    except VyreError as error:
        if name == os.environ.get(VARIABLE):
            raise DispatchError(f"{VARIABLE} is {name!r}, and {error.message}", fix=error.fix) from None
        if name == FAST:
            other = f"Or choose another backend by {VARIABLE} or vyre.use; `vyre doctor` lists them."
            raise type(error)(error.message, fix=f"{error.fix} {other}") from None
        raise


def require_backend(given: object) -> None:
    """Raises `DispatchError` for an object that can compile no program."""
    if isinstance(given, type) or not callable(getattr(given, "compile", None)):
        raise DispatchError(
            f"{given!r} is not a backend.",
            fix='pass the name of one, such as backend="cpu", or an object of vyre.backends.',
        )


class _Use:
    """The choice as a block: what held before holds again at its end."""

    __slots__ = ("_before", "_name", "_tokens")

    def __init__(self, name: str, before: str | None) -> None:
        self._name = name
        self._before = before
        self._tokens: list[object] = []

    def __enter__(self) -> str:
        if not self._tokens and _everywhere[0] == self._name:
            _everywhere[0] = self._before  # it was a block, so it is this thread's own
        self._tokens.append(_here.set(self._name))
        return self._name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _here.reset(self._tokens.pop())  # pyright: ignore[reportArgumentType] - what set gave

    def __repr__(self) -> str:
        return f"vyre.use({self._name!r})"


@boundary
def use(backend: str) -> _Use:
    """Makes `backend` what calls take that name none: from here on, or inside `with vyre.use(…):`.

    A block holds in its own thread or task. Raises at once where the backend cannot be had.
    """
    from vyre.backends.registry import get

    if not isinstance(backend, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(
            f"vyre.use takes the name of a backend, not {backend!r}.",
            fix='write vyre.use("cpu"); an object is passed to each call, as backend=.',
        )
    get(backend)
    before, _everywhere[0] = _everywhere[0], backend
    return _Use(backend, before)
