"""Backends whose devices are examined when they are first given a program; the canaries are loaded then."""

from __future__ import annotations

from threading import RLock, get_ident
from typing import TYPE_CHECKING, cast

from vyre.backends.protocol import CanaryVerdict

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.ir.program import Program


class Examined:
    """A backend whose device is examined for what a program needs when it is first given one."""

    _results: dict[str, str] | None = None
    """What every canary gave that was run; None for a device that is not examined."""
    _examiner: int | None = None
    """The thread that is running canaries."""

    def examine_later(self) -> None:
        """Called by a constructor, without which the device is believed, and in the child of a fork."""
        self._examining = RLock()
        self._examiner = None
        self._results = self._results or {}

    @property
    def _running(self) -> bool:
        """Whether what this thread compiles now is a canary."""
        return self._examiner == get_ident()

    @property
    def examines(self) -> bool:
        """Whether what this thread compiles now was examined first."""
        return self._results is not None and not self._running

    @property
    def verdict(self) -> CanaryVerdict | None:
        """What all canaries say. None while one is compiled, and for a device that is not examined."""
        return self._examined(None)

    def lowering_stamp(self) -> str | None:
        """What says that code is lowered as before; None for the files that lower it, read one by one."""
        return None

    def require_sound(self, program: Program) -> None:
        """Raises `UnsupportedByBackend` for a program that needs what the device fails."""
        from vyre.backends.canaries.run import refuse_lost_features

        refuse_lost_features(program, self._examined(program), cast("Backend", self).name)

    def _examined(self, program: Program | None) -> CanaryVerdict | None:
        if self._results is None:
            return None
        from vyre.backends.canaries.run import every, examine, watching

        with self._examining:
            if self._running:  # this very thread is compiling a canary
                return None
            wanted = every() if program is None else watching(program)
            if any(canary.name not in self._results for canary in wanted):
                self._examiner = get_ident()
                try:
                    found = examine(cast("Backend", self), program=program, lowering=self.lowering_stamp())
                finally:
                    self._examiner = None
                if not found.lasting:
                    return found
                self._results |= {canary.name: found.failures.get(canary.name, "") for canary in wanted}
            return CanaryVerdict({c.name: detail for c in wanted if (detail := self._results[c.name])})
