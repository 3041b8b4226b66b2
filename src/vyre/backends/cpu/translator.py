"""Where LLVM runs: in this process, and after many kernels in a second one that is replaced now and then.

Each optimisation loses some memory for good (`cpu_llvm`). A program that compiles a few kernels never
notices; for one that compiles 100,000 the loss is bounded by `here` kernels in this process and `each` in
the other. The second process is this Python with a pipe to it. It ends with this one, and where it cannot
be started, or dies, the kernel is compiled here.
"""

from __future__ import annotations

import os
import struct
import sys
from contextlib import suppress
from functools import cache, partial
from threading import Lock
from typing import IO, TYPE_CHECKING
from weakref import finalize

from vyre.backends.cpu.llvm import HOST, LlvmRejection, translate
from vyre.backends.float_state import default_state
from vyre.backends.forks import renew_after_fork
from vyre.backends.interrupts import aside

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

_HERE = 1000
_EACH = 10_000

_HEAD = struct.Struct("<cI")
_DONE, _REJECTED = b"+", b"-"
_COMMAND = "from vyre.backends.cpu.translator import serve; serve()"


def _translated(text: str, form: str, cpu: str) -> bytes:
    with default_state():  # LLVM folds constants with the processor's own floats
        return translate(text, form, cpu)


class Translator:
    """`translate` of `cpu_llvm` with a bound on what it loses."""

    def __init__(self, *, here: int = _HERE, each: int = _EACH) -> None:
        self._left = here
        self._each = each
        self._other: _Process | None = None
        self._lock = Lock()
        renew_after_fork(self)

    def renew(self) -> None:
        """In the child of a fork: another thread of the parent may have held the lock."""
        self._lock = Lock()

    def __call__(self, text: str, form: str, cpu: str = HOST) -> bytes:
        with self._lock:
            if self._left > 0:
                self._left -= 1
                answer = None
            else:
                answer = self._elsewhere(text, form, cpu)
        if answer is None:
            return aside(partial(_translated, text, form, cpu))
        kind, payload = answer
        if kind == _REJECTED:
            raise LlvmRejection(payload.decode())
        return payload

    def _elsewhere(self, text: str, form: str, cpu: str) -> tuple[bytes, bytes] | None:
        """The answer of the other process, or None where there is none to ask."""
        if self._other is None or self._other.served >= self._each or not self._other.ours:
            self.close()
            try:
                self._other = _Process()
            except OSError:
                self._left = sys.maxsize
                return None
        try:
            return self._other.ask(text, form, cpu)
        except (OSError, EOFError):
            if self._other.served < 2:  # it never worked, and the next would not either
                self._left = sys.maxsize
            self.close()
            return None
        except BaseException:  # an interrupt in the middle of an answer: the next one would be its rest
            self.close()
            raise

    def close(self) -> None:
        """Ends the other process; the next kernel starts another."""
        if self._other is not None:
            self._other.end()
            self._other = None


@cache
def translator() -> Translator:
    """The one of this process, whose memory is at stake."""
    return Translator()


class _Process:
    """Another Python that compiles what it is sent. It outlives neither this object nor this process."""

    def __init__(self) -> None:
        import subprocess  # most programs never need it

        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # an interrupt from the keyboard is for this process alone
        )
        self._owner = os.getpid()
        self.served = 0
        self.end: Callable[[], object] = finalize(self, _end, self._process, self._owner)

    @property
    def ours(self) -> bool:
        """False in a child of a fork, which must not speak into its parent's pipe."""
        return self._owner == os.getpid()

    def ask(self, text: str, form: str, cpu: str) -> tuple[bytes, bytes]:
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        _send(to, form[:1].encode(), f"{cpu}\n{text}".encode())
        self.served += 1
        return _receive(back)


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if owner == os.getpid():
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if owner == os.getpid():
        process.wait()
    else:
        process.returncode = 0  # another's child: nothing to wait for


def serve() -> None:
    """What the other process does until its input ends."""
    from vyre.backends.cpu.llvm import ASSEMBLY, OBJECT

    forms = {form[:1].encode(): form for form in (OBJECT, ASSEMBLY)}
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            kind, question = _receive(asked)
        except EOFError:
            return
        try:
            cpu, _, text = question.decode().partition("\n")
            _send(answers, _DONE, translate(text, forms[kind], cpu))
        except LlvmRejection as error:
            _send(answers, _REJECTED, str(error).encode())


def _send(pipe: IO[bytes], kind: bytes, payload: bytes) -> None:
    pipe.write(_HEAD.pack(kind, len(payload)) + payload)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> tuple[bytes, bytes]:
    kind, size = _HEAD.unpack(_exactly(pipe, _HEAD.size))
    return kind, _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
