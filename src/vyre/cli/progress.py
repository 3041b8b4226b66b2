"""Progress with failures and time: a bar on a terminal, else a line every ten seconds.

Cases differ in cost by a factor of a million, so that no time left is told from their number.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import click

_APART = 10.0


class Bar:
    """Counts `unit`s up to `total`, which may become known later."""

    def __init__(self, what: str = "starting", total: int | None = None, *, unit: str, quiet: bool) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._quiet = quiet
        self._on = sys.stderr.isatty() and not quiet
        self._began = self._said = time.monotonic()
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if self._on:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}% {task.fields[rate]} {task.fields[failing]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(self._what, total=self._total, rate="", failing="")
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def update(
        self, done: int, *, total: int | None = None, what: str = "", resumed: int = 0, failing: str = ""
    ) -> None:
        """`resumed` of those done were done by an earlier run and do not count for the rate."""
        if self._progress is None:
            self._say(done, total or self._total, what or self._what, failing)
            return
        elapsed = self._progress.tasks[0].elapsed or 0
        rate = f"{(done - resumed) / elapsed:.3g} {self._unit}/s" if elapsed else ""
        self._progress.update(
            self._task,
            completed=done,
            total=total or self._total,
            description=what or self._what,
            rate=rate,
            failing=failing,
        )

    def _say(self, done: int, total: int | None, what: str, failing: str) -> None:
        """A line where there is no terminal: whoever reads a log sees that the work goes on."""
        now = time.monotonic()
        if self._quiet or now - self._said < _APART:
            return
        self._said = now
        of = f" of {total:,}" if total else ""
        parts = [f"{now - self._began:.0f} s", f"{done:,}{of} {self._unit}", failing]
        click.echo(f"{what}: {', '.join(part for part in parts if part)}", err=True)
