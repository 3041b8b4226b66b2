"""Every exception vyre raises, and the diagnostic record that validation reports.

Each message says what is wrong and where; each ends in `Fix:` and an action. An error that a user causes
leaves our functions without our frames: its traceback ends at the user's own line.
"""

from __future__ import annotations

import functools
import operator
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
R = TypeVar("R")

_BETWEEN = ("contextlib", "functools")
"""Modules that our frames go through."""


def counted(number: int, one: str, several: str = "") -> str:
    """`1 case`, `2 cases`, `1,000 indices`: a number with its noun."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


class VyreError(Exception):
    """Base of all errors a user can cause. `message`, `fix` and `place` are kept apart for tools."""

    def __init__(self, message: str, *, fix: str, place: str | None = None) -> None:
        self.message = message
        self.fix = fix
        self.place = place
        where = f"{place}: " if place else ""
        super().__init__(f"{where}{message} Fix: {fix}")


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Where in the user's own file a node was written; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One broken rule: a permanent code, the path of the node in the program, and what to do."""

    code: str
    message: str
    fix: str
    path: str
    location: SourceLocation | None = None

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        return f"{where}{self.path}: {self.code}: {self.message} Fix: {self.fix}"

    def shown(self) -> str:
        """The diagnostic, and under it the user's own line with a mark, where it is known."""
        if self.location is None or not self.location.text:
            return str(self)
        caret = " " * (self.location.column - 1) + "^"
        return f"{self}\n    {self.location.text}\n    {caret}"


class ValidationError(VyreError):
    """A program breaks at least one V-rule; `diagnostics` holds all of them."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        super().__init__(first.message, fix=first.fix, place=first.path)
        self.args = ("\n".join(d.shown() for d in self.diagnostics),)


class WireError(VyreError):
    """Bytes that are not a canonical wire form of a program, or a program that has none.

    `offset` is the byte at fault; None when the fault is in a program, which `place` then names.
    """

    def __init__(
        self, message: str, *, fix: str, offset: int | None = None, place: str | None = None
    ) -> None:
        self.offset = offset
        super().__init__(message, fix=fix, place=place if offset is None else f"byte {offset}")


class ParseError(VyreError):
    """Text that is not a program; `line` and `column` count from 1."""

    def __init__(self, message: str, *, fix: str, line: int, column: int, file: str = "<text>") -> None:
        self.line = line
        self.column = column
        super().__init__(message, fix=fix, place=f"{file}:{line}:{column}")


class PrintError(VyreError):
    """A program beyond the limits of the language, which therefore has no text form."""


class KernelError(VyreError):
    """A Python function that has no meaning as a kernel or op; points at the user's source line."""

    def __init__(self, message: str, *, fix: str, location: SourceLocation) -> None:
        self.location = location
        super().__init__(message, fix=fix, place=str(location))
        if location.text:
            caret = " " * (location.column - 1) + "^"
            self.args = (f"{location}: {message}\n    {location.text}\n    {caret}\nFix: {fix}",)


class KernelWarning(UserWarning):
    """A kernel with a meaning that is probably not the one that was meant, or a check that was skipped."""


class OpError(VyreError):
    """An op definition that cannot enter a registry, or an id that is not in it."""


class DispatchError(VyreError):
    """Buffers, grid or backend that do not fit the program; raised before anything runs."""


class BackendUnavailable(DispatchError):
    """A backend that cannot be had on this machine: a package, a driver or a device is missing."""


class DeviceError(DispatchError):
    """A device or its driver failed well-formed work; the results are void and the process goes on."""


class DeviceOutOfMemory(DeviceError):
    """A device does not have enough memory for the buffers."""


class DeviceLost(DeviceError):
    """A device is gone, and everything that was on it; `fix` says whether the next call opens another."""


class SourceRejected(VyreError):
    """A compiler does not accept the source of a kernel: a fault of the lowering or of the compiler.

    `source` is the text that was rejected, `log` what the compiler said.
    """

    def __init__(self, compiler: str, log: str, source: str) -> None:
        self.compiler = compiler
        self.log = log.strip()
        self.source = source
        super().__init__(
            f"{compiler} rejects the kernel: {self.log}\n{source}",
            fix="report it with the source above; it is a fault of the lowering or of the compiler.",
        )


class UnsupportedByBackend(VyreError):
    """A backend cannot do this operation exactly; a first-class outcome, never a silent fallback."""

    def __init__(self, op: str, backend: str, *, why: str = "", fix: str = "") -> None:
        self.op = op
        self.backend = backend
        reason = f": {why}" if why else ""
        super().__init__(
            f"{op} is not supported by the backend {backend}{reason}.",
            fix=fix or "choose a backend that supports it (`vyre backends` lists them).",
        )


class CertificateError(VyreError):
    """A certificate that was changed, claims more than it contains, or does not fit with others."""


class InterpreterError(VyreError):
    """The reference interpreter refuses to go on: a limit, the step budget, or a divergent barrier."""


class StepBudgetExceeded(InterpreterError):
    """The program took more steps than the interpreter's budget allows."""


class StepLimitExceeded(VyreError):
    """An invocation took more turns of its loops than `step_limit` allows; the results are void."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"an invocation took more than {limit} turns of its loops, the step limit.",
            fix="shorten the program's loops, or pass a larger step_limit.",
        )


class CheckError(VyreError):
    """A watched call has a race or reads what nothing wrote; `report` holds every finding."""

    def __init__(self, report: object, *, message: str, fix: str) -> None:
        self.report = report
        super().__init__(message, fix=fix)
        self.args = (str(report),)


def whole(what: str, value: Any) -> int:
    """A whole number that a user gave, of Python or NumPy; `DispatchError` for any other value."""
    try:
        return operator.index(value)
    except TypeError:
        raise DispatchError(
            f"{what} is {value!r}, a value of {type(value).__name__}.", fix="pass a whole number."
        ) from None


def boundary(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a function one that users call: errors that they cause end at their line."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except VyreError as error:
            hide_own_frames(error)
            raise

    return called


def hide_own_frames(error: VyreError) -> None:
    """Takes our frames out of the traceback of an error that leaves us, and nobody else's.

    A bare `raise` has to follow, which is the one that does not add the current frame again. What is not
    a mistake of the user's keeps every frame: any other exception, a compiler that rejects our source, a
    device that fails. `VYRE_TRACEBACK=full` keeps them all.
    """
    if isinstance(error, SourceRejected | DeviceError) or os.environ.get("VYRE_TRACEBACK") == "full":
        return
    error.__traceback__ = _without_ours(error.__traceback__)
    cause, context = error.__cause__, error.__context__
    if cause is not None:
        cause.__traceback__ = _without_ours(cause.__traceback__)
    # What was being handled when we were called is the user's; what we handled ourselves says nothing more.
    while context is not None and context is not cause and _is_ours(context.__traceback__):
        context = context.__context__
    suppressed = error.__suppress_context__
    error.__context__ = context
    error.__suppress_context__ = suppressed


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        if not _is_ours(trace) and _module(trace) not in _BETWEEN:
            kept.append(trace)
        trace = trace.tb_next
    whole = None
    for entry in reversed(kept):
        whole = TracebackType(whole, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return whole


def _is_ours(trace: TracebackType | None) -> bool:
    return trace is not None and _module(trace).partition(".")[0] == "vyre"


def _module(trace: TracebackType) -> str:
    """By its globals: code that dataclasses made is in no file."""
    return str(trace.tb_frame.f_globals.get("__name__"))
