"""How far a run is in the stage that it is at, and how long what is left of it will take.

Cases of one stage differ in cost, those of two stages by a factor of a million. So the time that is left in a
stage follows from the blocks of that stage which this run has finished, and none is told before some are.
They are run in an order in which those that come first speak for the others.
The time that is left in the whole run is told only where an earlier run of the same plan says what the stages
to come cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def spread(count: int) -> list[int]:
    """A place for each of `count` things, so that those in the first places are from everywhere among them:
    what they cost says what the others will."""
    bits = max(count - 1, 0).bit_length()
    reversed_bits = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(count)] if bits else [0] * count
    places = {k: place for place, k in enumerate(sorted(range(count), key=reversed_bits.__getitem__))}
    return [places[k] for k in range(count)]


@dataclass(frozen=True, slots=True)
class StageProgress:
    """The stage that a run is at: the `number`-th of `of`, with `done` of its `total` cases finished.

    `left` are the seconds that the rest of it will take, where that can be told, and `whole_left` those of
    the run.
    """

    name: str
    number: int
    of: int
    done: int
    total: int
    left: float | None = None
    whole_left: float | None = None


@dataclass(slots=True)
class _Cost:
    """Seconds of blocks over their sizes: a line through what was measured, neither part of it below 0."""

    blocks: int = 0
    cases: int = 0
    seconds: float = 0.0
    squares: int = 0
    products: float = 0.0

    def add(self, cases: int, seconds: float) -> None:
        self.blocks += 1
        self.cases += cases
        self.seconds += seconds
        self.squares += cases * cases
        self.products += cases * seconds

    def of(self, blocks: int, cases: int) -> float:
        """What so many more blocks will take, which have so many cases together."""
        spread = self.blocks * self.squares - self.cases * self.cases
        slope = (self.blocks * self.products - self.cases * self.seconds) / spread if spread else 0.0
        slope = min(max(slope, 0.0), self.seconds / self.cases)
        each = (self.seconds - slope * self.cases) / self.blocks
        return each * blocks + slope * cases


@dataclass(slots=True)
class _StageWork:
    total: int = 0
    done: int = 0
    blocks_left: int = 0
    cases_left: int = 0
    cost: _Cost = field(default_factory=_Cost)


class Pace:
    """Follows a run block by block; `threads` of them are run at once."""

    def __init__(
        self,
        blocks: Sequence[tuple[str, int, bool]],
        *,
        threads: int,
        earlier: Mapping[str, float] | None = None,
    ) -> None:
        """`blocks` are the stage and size of every block in the order in which they are run, and whether an
        earlier process has finished it; `earlier` are seconds by stage of a whole run of the same plan."""
        self._threads = threads
        self._earlier = earlier or {}
        self._stages: dict[str, _StageWork] = {}
        for stage, size, done in blocks:
            work = self._stages.setdefault(stage, _StageWork())
            work.total += size
            if done:
                work.done += size
            else:
                work.blocks_left += 1
                work.cases_left += size

    def finished(self, stage: str, size: int, seconds: float) -> None:
        work = self._stages[stage]
        work.done += size
        work.blocks_left -= 1
        work.cases_left -= size
        work.cost.add(size, seconds)

    def at(self, stage: str) -> StageProgress:
        """Where the run is, the block that it works on being one of `stage`."""
        work = self._stages[stage]
        number = list(self._stages).index(stage) + 1
        left = self._left(work)
        return StageProgress(
            stage, number, len(self._stages), work.done, work.total, left, self._whole_left(stage, left)
        )

    def _left(self, work: _StageWork) -> float | None:
        """None until every thread has had a block, so that one which is quick by chance decides nothing."""
        if work.cost.blocks < self._threads:
            return None
        return work.cost.of(work.blocks_left, work.cases_left) / self._threads

    def _whole_left(self, stage: str, left: float | None) -> float | None:
        """What stages took in the earlier run, by the speed of this one so far."""
        open_ones = {name: work for name, work in self._stages.items() if work.blocks_left}
        if not self._earlier or any(name not in self._earlier for name in open_ones):
            return None
        over = [(w.cost.seconds, self._earlier[n]) for n, w in self._stages.items() if self._comparable(n, w)]
        now, then = sum(s for s, _ in over), sum(s for _, s in over)
        speed = now / then if then else 1.0
        found = 0.0
        for name, work in open_ones.items():
            if name == stage and left is not None:
                found += left
            else:
                found += speed * self._earlier[name] * work.cases_left / work.total / self._threads
        return found

    def _comparable(self, name: str, work: _StageWork) -> bool:
        """Whether this run alone has run the whole of the stage."""
        return not work.blocks_left and name in self._earlier and work.cost.cases == work.total
