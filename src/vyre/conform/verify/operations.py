"""Ops on a backend: blocks of cases, what fails in them, and the smallest failing input.

    run_block(bench, kind, lo, hi, memory)  -> a record for the journal
    explain(bench, kind, check, number)     -> the failing case, as small as it gets

Level 1 compares an op with its definition, level 2 compares the sides of its laws with each other, both on
what the backend itself computed. A crash or hang ends the block; the record says at which case.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.generate.shrink import shrink
from vyre.conform.process.faults import BackendCrash, BackendHang
from vyre.conform.records.blocks import BlockCoverage, CaseRange, FailCount, FailRanges, OpBlock, WrongInput
from vyre.conform.records.ranges import joined, of_mask
from vyre.conform.verify.blame import LATE, LAWS, blamed, less_patience, narrowed, stop
from vyre.conform.verify.cases import LONGEST, is_memory
from vyre.conform.verify.device import device_checks
from vyre.conform.verify.device_tile import InputsDiffer
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.made import InputMaker
from vyre.conform.verify.replayed import DEPENDS
from vyre.errors import VyreError
from vyre.semantics.arrays import NUMPY
from vyre.semantics.words import mask_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.conform.records.blocks import Stop
    from vyre.conform.records.ranges import Ranges
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.device import DeviceChecks
    from vyre.conform.verify.device_tile import DeviceVerdict
    from vyre.conform.verify.graph import Check, Graph
    from vyre.conform.verify.host_inputs import Mistake
    from vyre.conform.verify.layout import Memory

    Words = NDArray[np.uint32]

TILE = 1 << 18
"""Cases per dispatch: small enough that all arrays of an op stay in a cache."""

MADE_FROM = 1 << 20
"""Cases of a block from which it pays to let the backend make them."""

DEVICE_FROM = 1 << 18
"""Cases of a block from which it pays to compare on the device."""

_RETRIES = 16


def run_block(
    bench: Bench,
    kind: Kind,
    lo: int,
    hi: int,
    memory: Memory,
    *,
    narrow: Callable[[], bool] = lambda: True,
    device_from: int | None = None,
) -> OpBlock:
    """Cases lo to hi - 1 of a kind. The record holds counts, first failures by check, and where all are.

    After a crash or hang, `narrow` is asked whether it is worth finding the case that caused it.
    """
    graph = kind.graph
    try:
        own = bench.compiled(graph.spec)
    except Exception as error:  # a backend in this process may raise anything
        return OpBlock(0, stop=stop(error, lo, [], at=f"compiling {graph.spec.id}"))
    if own.refusal is not None:
        return OpBlock(0, refused=tuple(c.name for c in kind.checks), refusal=str(own.refusal.message))
    checks: list[Check] = []
    for check in kind.checks:
        try:
            checks += [check] if bench.refused(graph, check) is None else []
        except Exception as error:  # of another op that a law applies
            at = f"compiling what {check.name} applies"
            return OpBlock(0, stop=stop(error, lo, [], at=at, check=check.name))
    refused = tuple(sorted({c.name for c in kind.checks} - {c.name for c in checks}))
    cases = _Cases(kind)
    covered = coverage(graph.spec, cases, lo, hi) if covers_classes(kind) else None
    firsts: dict[int, FailCount] = {}
    failing: dict[int, Ranges] = {}
    mistakes: list[Mistake] = []
    every, done, end = checks, hi - lo, None
    least = DEVICE_FROM if device_from is None else device_from
    checks, unconfirmed, ended = _on_device(bench, kind, checks, lo, hi, mistakes, least=least)
    maker = _maker(bench, kind, hi - lo, memory)
    for start in range(lo, hi, TILE) if checks else ():
        count = min(TILE, hi - start)
        bench.recent.append((kind, tuple(checks), start, count))
        try:
            masks = _tile(bench, cases, checks, start, count, memory, maker, mistakes)
        except Exception as error:  # a crash, a hang, or an exception of the backend
            end = (
                blamed(bench, kind, checks, start, count, error)
                if narrow()
                else stop(error, start, kind.case(start), at=f"{count:,} cases", check=LAWS, cases=count)
            )
            done = start - lo
            break
        for check, mask in zip(checks, masks, strict=True):
            if mask is not None:
                _note(graph, check, mask, start, firsts, failing)
    for number, verdict in unconfirmed.items():
        if number not in firsts:  # seen on the device alone
            firsts[number] = FailCount(number, verdict.failed, verdict.first)
            failing[number] = [[verdict.first, hi - 1, verdict.failed]]
    if ended is not None and end is None:
        # The host's way went well, so it was the comparing on the device that ended badly.
        end, done = _ended_there(bench, kind, every, lo, hi, ended, look=narrow()), 0
    return OpBlock(
        done,
        tuple(firsts[k] for k in sorted(firsts)),
        refused,
        end,
        coverage=covered,
        failing=tuple(_ranges(k, failing[k]) for k in sorted(failing)) or None,
        made=_made(mistakes),
    )


def _ranges(check: int, found: Ranges) -> FailRanges:
    return FailRanges(check, tuple(CaseRange(*row) for row in joined(found)))


def _made(mistakes: Sequence[Mistake]) -> WrongInput | None:
    """The first of the inputs that the backend made wrong, and how many there were."""
    if not mistakes:
        return None
    first = min(mistakes, key=lambda m: m.case)
    count = sum(m.count for m in mistakes)
    return WrongInput(first.case, first.position, first.found, first.wanted, count)


def _on_device(
    bench: Bench, kind: Kind, checks: list[Check], lo: int, hi: int, mistakes: list[Mistake], *, least: int
) -> tuple[list[Check], dict[int, DeviceVerdict], BaseException | None]:
    """Checks what can be checked on the device; gives the checks that are left, and what failed there.

    Whatever goes wrong there is no verdict: those cases are run again from the host, which says what it is.
    So is a check that failed, because the device tells how many cases did and the host which. A crash or hang
    is given as well, for the case that the host's way does not show it.
    """
    laws = [c for c in checks if c.name != PARITY]
    if hi - lo < least:
        return checks, {}, None
    try:
        found = _compared_there(bench, kind, laws, lo, hi - lo)
    except InputsDiffer as differ:
        mistakes.append(differ.mistake)
        return checks, {}, None
    except (BackendCrash, BackendHang) as ended:
        return checks, {}, ended
    except Exception:  # a backend may raise anything, and the host's way tells it apart
        return checks, {}, None
    if found is None:
        return checks, {}, None
    failed = {
        kind.graph.checks.index(check): verdict
        for check, verdict in zip(laws, found, strict=True)
        if verdict is not None
    }
    return [c for c in checks if c.name == PARITY or kind.graph.checks.index(c) in failed], failed, None


def _compared_there(
    bench: Bench, kind: Kind, laws: list[Check], lo: int, count: int
) -> list[DeviceVerdict | None] | None:
    """The verdict on each law by the device itself; None where that does not apply."""
    device: DeviceChecks | None = None
    try:
        device = device_checks(bench, kind, laws)
        return None if device is None else device.compare(lo, count)
    finally:
        if device is not None:
            with suppress(Exception):
                device.close()


def _ended_there(
    bench: Bench, kind: Kind, checks: list[Check], lo: int, hi: int, ended: BaseException, *, look: bool
) -> Stop:
    """The cases at which comparing on the device ends badly."""
    laws = [c for c in checks if c.name != PARITY]

    def bad(at: int, count: int, late: float) -> BaseException | None:
        try:
            _compared_there(bench, kind, laws, at, count)
            bench.held.settle(late)
        except (BackendCrash, BackendHang) as found:
            return found
        except Exception:  # no crash and no hang, so not what is looked for
            return None
        return None

    at, size, note = lo, hi - lo, "on the device"
    with bench.alone(), less_patience(bench.backend):
        again = bad(lo, hi - lo, LATE) if look else None
        if again is not None:
            at, size, ended = narrowed(bad, lo, hi - lo, again)
        elif look:
            note = "on the device, and not again"
    cases = f"{size:,} {'case' if size == 1 else 'cases'} compared {note}"
    return stop(ended, at, (), at=cases, check=LAWS, cases=size)


def _maker(bench: Bench, kind: Kind, cases: int, memory: Memory) -> InputMaker | None:
    """Something that makes inputs on the backend, where there are enough of them for that to pay."""
    if kind.name != "random" or cases < MADE_FROM or not kind.stream.on_device or is_memory(kind.graph.spec):
        return None
    try:
        return InputMaker(bench, kind.stream, memory.another())
    except Exception:  # a backend that cannot compile the generator gets its inputs from the host
        return None


class _Cases:
    """The cases of a kind. The last ones are kept, as coverage and the checks ask for the same."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self._place = (0, 0)
        self._words: dict[int, Words] = {}

    def block(self, start: int, count: int) -> dict[int, Words]:
        if self._place != (start, count):
            self._words = self.kind.block(start, count)
            self._place = (start, count)
        return self._words


def _tile(
    bench: Bench,
    cases: _Cases,
    checks: list[Check],
    start: int,
    count: int,
    memory: Memory,
    maker: InputMaker | None,
    mistakes: list[Mistake],
) -> list[NDArray[np.bool_] | None]:
    """Every application once. What fails on inputs of the backend's making is tried again on the host's.

    So is everything where these inputs were not the right ones, which is noted.
    """
    words = maker.block(start, count) if maker is not None else None
    if maker is not None and words is not None:
        masks = bench.compare(cases.kind.graph, checks, words, memory, shared=True)
        mistake = maker.mistake(start, words)
        if mistake is not None:
            mistakes.append(mistake)
        elif all(mask is None for mask in masks):
            return masks
    return bench.compare(cases.kind.graph, checks, cases.block(start, count), memory)


def _note(
    graph: Graph,
    check: Check,
    mask: NDArray[np.bool_],
    start: int,
    firsts: dict[int, FailCount],
    failing: dict[int, Ranges],
) -> None:
    number = graph.checks.index(check)
    failing.setdefault(number, []).extend(of_mask(mask, start))
    met = firsts.get(number, FailCount(number, 0, start + int(np.argmax(mask))))
    firsts[number] = met._replace(failed=met.failed + int(mask.sum()))


def covers_classes(kind: Kind) -> bool:
    """Whether the cases of a kind count as coverage of classes and boundaries.

    Masses of them do not, nor do those on which only laws are checked.
    """
    return kind.name not in ("random", "all", "u8x3") and any(c.name == PARITY for c in kind.checks)


def coverage(spec: OpSpec, cases: _Cases, lo: int, hi: int) -> BlockCoverage:
    """Members of each class among the cases, and which boundary values occurred, by word."""
    classes = [0] * len(spec.classes)
    met: list[set[int]] = [set() for _ in spec.boundaries]
    for start in range(lo, hi, TILE):
        block = cases.block(start, min(TILE, hi - start))
        words = [block[p] & np.uint32(m) for p, m in enumerate(spec.masks)]
        if len(words) != spec.words:
            continue
        for k, one in enumerate(spec.classes):
            inside = np.broadcast_to(one.contains(NUMPY, *words), words[0].shape)
            classes[k] += int(np.count_nonzero(inside))
        for place, values in enumerate(spec.boundaries):
            left = [k for k in range(len(values)) if k not in met[place]]
            met[place].update(k for k in left if (words[place] == np.uint32(values[k])).any())
    return BlockCoverage(tuple(classes), tuple(tuple(sorted(m)) for m in met))


def meeting(spec: OpSpec, declared: str) -> Callable[[Mapping[int, Words]], Any] | None:
    """Which cases meet a class or boundary, by the words of `Coverage.missing`; None for an unknown one."""

    def own(block: Mapping[int, Words]) -> list[Words]:
        return [block[p] & np.uint32(m) for p, m in enumerate(spec.masks)]

    for one in spec.classes:
        if declared == f"class {one.name}":
            return lambda block: np.broadcast_to(one.contains(NUMPY, *own(block)), block[0].shape)
    for place, values in enumerate(spec.boundaries):
        for value in values:
            if declared == f"boundary 0x{value:X} of word {place}":
                return lambda block: own(block)[place] == np.uint32(value)
    return None


def columns(words: Sequence[int]) -> dict[int, Words]:
    """One case as arrays of one."""
    return {p: np.array([w], np.uint32) for p, w in enumerate(words)}


def masks_of(graph: Graph, count: int) -> tuple[int, ...]:
    found = {p: mask_of(v.type) for v, places in graph.positions.items() for p in places}
    return tuple(found[p] for p in range(count))


def fails_on(bench: Bench, graph: Graph, check: Check, words: Sequence[int]) -> bool:
    """Whether one case fails a check, alone in its dispatch."""
    return bench.compare(graph, [check], columns(words), bench.spare())[0] is not None


@dataclass(slots=True)
class Explanation:
    """A failing check of an op, with the smallest input that still fails it."""

    kind: str
    found: tuple[int, ...]
    words: tuple[int, ...]
    note: str = ""


def explain(bench: Bench, kind: Kind, check: Check, number: int) -> Explanation:
    """Makes the failing case `number` as small as it gets; says so where it does not fail again."""
    found = kind.case(number)
    said = Explanation("value" if check.name == PARITY else "law", found, found)
    try:
        again = sum(fails_on(bench, kind.graph, check, found) for _ in range(_RETRIES))
        if again < _RETRIES:
            _unstable(bench, kind, check, number, again, said)
        else:
            said.words = shrink(
                _question(bench, kind.graph, check), found, masks=masks_of(kind.graph, len(found))
            )
    except Exception as error:  # a backend that fails in other ways when it is asked again
        text = error.message if isinstance(error, VyreError) else f"{type(error).__name__}: {error}"
        said.note = f"while it was made smaller: {text}"
    return said


def _question(bench: Bench, graph: Graph, check: Check) -> Callable[[tuple[Words, ...]], Any]:
    def fails(batch: tuple[Words, ...]) -> NDArray[np.bool_]:
        words = dict(enumerate(batch))
        possible = np.ones(len(batch[0]), np.bool_)
        if is_memory(graph.spec):  # the second operand is the length of a buffer
            possible = words[1] <= LONGEST
            words[1] = np.minimum(words[1], np.uint32(LONGEST))
        mask = bench.compare(graph, [check], words, bench.spare())[0]
        return np.zeros_like(possible) if mask is None else mask & possible

    return fails


def _unstable(bench: Bench, kind: Kind, check: Check, number: int, alone: int, said: Explanation) -> None:
    """Told apart: a case that fails only at its place in a large dispatch, and one that just varies."""
    start = number // TILE * TILE
    words = kind.block(start, min(TILE, kind.count - start))
    place = number - start
    among = 0
    for _ in range(3):
        mask = bench.compare(kind.graph, [check], words, bench.spare())[0]
        among += mask is not None and bool(mask[place])
    if among == 3 and not alone:
        said.note = f"fails only as case {place} of a dispatch of {len(words[0])}, never alone"
        return
    said.kind = "unstable"
    said.note = (
        f"the same input failed {alone} of {_RETRIES} times alone, {among} of 3 among others: {DEPENDS}"
    )
