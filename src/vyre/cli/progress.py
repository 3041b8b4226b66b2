"""Progress with failures and time: a bar on a terminal, else a line every ten seconds.

    with Bar(unit="cases", quiet=False) as bar:
        bar.update(24, total=32, what="shapes (stage 1 of 23)", left="about 40 s left in this stage")

What is told of the time that is left is the caller's to know; it is dropped once that time has passed.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import click

_APART = 10.0


def about(seconds: float) -> str:
    """A time that is not known exactly: seconds below two minutes, minutes below two hours."""
    if seconds < 120:
        return f"about {max(1, round(seconds))} s"
    if seconds < 7200:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"


class Bar:
    """Counts `unit`s up to `total`, which may become known later."""

    def __init__(self, what: str = "starting", total: int | None = None, *, unit: str, quiet: bool) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._quiet = quiet
        self._on = sys.stderr.isatty() and not quiet
        self._began = self._heard = time.monotonic()
        self._state = (0, total, what, "")
        self._left: tuple[tuple[float, str], ...] = ()
        self._ended = threading.Event()
        self._teller: threading.Thread | None = None
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if self._on:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                BarColumn(bar_width=10),
                TextColumn("{task.percentage:>3.0f}% {task.fields[failing]}{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(self._what, total=self._total, left="", failing="")
        elif not self._quiet:
            self._teller = threading.Thread(target=self._tell, daemon=True)
            self._teller.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
        if self._teller is not None:
            self._ended.set()
            self._teller.join()

    def update(
        self,
        done: int,
        *,
        total: int | None = None,
        what: str = "",
        failing: str = "",
        left: tuple[tuple[float, str], ...] = (),
    ) -> None:
        """`left` are times from now on, in seconds, each with the words that follow it."""
        self._state = (done, total or self._total, what or self._what, failing)
        self._heard, self._left = time.monotonic(), left
        if self._progress is not None:
            self._progress.update(
                self._task,
                completed=done,
                total=total or self._total,
                description=what or self._what,
                left=", ".join(self._times(self._heard)),
                failing=f"{failing}, " if failing and left else failing,
            )

    def line(self) -> str:
        """Where the work is now, for a log."""
        now = time.monotonic()
        done, total, what, failing = self._state
        of = f" of {total:,}" if total else ""
        parts = [f"{now - self._began:.0f} s", f"{done:,}{of} {self._unit}", *self._times(now), failing]
        return f"{what}: {', '.join(part for part in parts if part)}"

    def _times(self, now: float) -> list[str]:
        """What is left; a time that has passed was wrong, and is told no more."""
        since = now - self._heard
        return [f"{about(seconds - since)} {words}" for seconds, words in self._left if seconds > since]

    def _tell(self) -> None:
        """Lines where there is no terminal: whoever reads a log sees that the work goes on."""
        while not self._ended.wait(_APART):
            click.echo(self.line(), err=True)
