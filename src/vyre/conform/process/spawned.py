"""A second Python that is asked things: how it is started, and how it ends with the one that asks.

spawned = spawn("from somewhere import main; main()", "more", "arguments")
spawned.connection.send(...)                 the other end is `connected()`, called there
spawned.end()                                its exit code
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True, slots=True)
class Spawned:
    """A running process, the connection to it, and the pipe that breaks when this process ends."""

    process: subprocess.Popen[bytes]
    connection: Any
    life: int

    def end(self) -> int:
        """Kills it, if it runs still, and says how it ended."""
        self.connection.close()
        os.close(self.life)
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


def spawn(code: str, *arguments: str) -> Spawned:
    """Starts this Python on `code`, which finds the packages that are found here."""
    ours, theirs = socket.socketpair()
    life_read, life = os.pipe()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno()), str(life_read), *arguments],
            pass_fds=(theirs.fileno(), life_read),
            stdin=subprocess.DEVNULL,
            stdout=2,  # what a backend prints must not mix with ours
            env=environment,
        )
    finally:
        theirs.close()
        os.close(life_read)
    return Spawned(process, Connection(ours.detach()), life)


def connected() -> tuple[Any, list[str]]:
    """In the started process: the connection to the one that started it, and the other arguments.

    From here on this process ends with that one, and an interrupt from the keyboard is for that one alone.
    """
    descriptor, life, *arguments = sys.argv[1:]
    _end_with_parent(int(life))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Connection(int(descriptor)), arguments


def _end_with_parent(life: int) -> None:
    """Asks the kernel for a signal when the pipe to the parent breaks, which ends even a hung child."""
    try:
        import fcntl

        fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(life, fcntl.F_GETFL)
        fcntl.fcntl(life, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
    except (ImportError, AttributeError, OSError):
        pass  # there the child ends when it next waits for a request
