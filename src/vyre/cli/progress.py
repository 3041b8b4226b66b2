"""A progress bar with rate, failures and time left; on a terminal only."""

from __future__ import annotations

import sys
from typing import Any


class Bar:
    """Counts `unit`s up to `total`, which may become known later."""

    def __init__(self, what: str = "starting", total: int | None = None, *, unit: str, quiet: bool) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._on = sys.stderr.isatty() and not quiet
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if self._on:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}% {task.fields[rate]} {task.fields[failing]}"),
                TimeRemainingColumn(),
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
