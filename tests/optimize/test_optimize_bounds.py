"""Bounds checks: what is proven never goes out of bounds, and ordinary kernels are proven."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.optimize.optimize_bounds_programs import indexed_program, spread_program
from tests.optimize.optimize_programs import Case
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import generate_program
from vyre.ir import Atomic, BinOp, LitU32, Load, Node, Program, Select, Store
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.limits import U32_MAX
from vyre.ir.walk import expressions, postorder, statements, transform, with_parts
from vyre.optimize import optimize, ranges
from vyre.optimize.bounds import ProvenAccesses, proven_accesses
from vyre.optimize.facts import Knowledge
from vyre.optimize.ranges import Range
from vyre.optimize.unique import unique_names
from vyre.reference import AccessKind, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir import Expr

HEAD = """vyre 1
workgroup 8 1 1
buffer src: readonly U32 @0
buffer six: readonly U32[6] @1
buffer out: readwrite U32 @2
buffer tile: workgroup U32[8]
buffer hist: workgroup_atomic U32[16]
"""


def program(body: str) -> Program:
    lines = "".join(f"  {line}\n" for line in body.strip("\n").splitlines())
    return Program.from_text(f"{HEAD}entry {{\n{lines}}}\n")


def analyse(made: Program) -> ProvenAccesses:
    return proven_accesses(made.entry, made.buffers, made.workgroup_size)


def unproven(body: str) -> int:
    found = analyse(program(body))
    return found.total - len(found.proven)


GUARD = "let i = invocation.x\n"
SPREAD = "let i = workgroup.x * 32 + local.x\n"
PROVEN = {
    "guard": f"{GUARD}if i < len(out) {{\n  out[i] = 1\n}}",
    "guard around": f"{GUARD}if len(out) > i {{\n  out[i] = out[i] + 1\n}}",
    "early return": f"{GUARD}if i >= len(out) {{\n  return\n}}\nout[i] = 1",
    "early return in the else-branch": (
        f"{GUARD}if i < len(out) {{\n  out[i] = 1\n}} else {{\n  return\n}}\nout[i] = out[i] + 1"
    ),
    "guard for two buffers": f"{GUARD}if (i < len(out)) && (i < len(src)) {{\n  out[i] = src[i]\n}}",
    "either too large": f"{GUARD}if (i >= len(out)) || (len(src) <= i) {{\n  return\n}}\nout[i] = src[i]",
    "not the opposite": f"{GUARD}if !(i >= len(out)) {{\n  out[i] = 1\n}}",
    "guard of the expression itself": (f"{GUARD}if i * 2 + 1 < len(src) {{\n  let a = src[i * 2 + 1]\n}}"),
    "smaller than what is guarded": (
        f"{GUARD}if i < len(src) {{\n  let a = src[i / 3]\n  let b = src[i & 12]\n  let c = src[i >> 2]\n}}"
    ),
    "from the end": f"{GUARD}if i < len(src) {{\n  let a = src[len(src) - 1 - i]\n}}",
    "loop over a buffer": "for k in 0..len(src) {\n  let a = src[k]\n}",
    "loop over a buffer backwards": "for k in 0..len(src) {\n  let a = src[len(src) - 1 - k]\n}",
    "remainder inside a loop over it": "for k in 0..len(src) {\n  let a = src[(k * 7) % len(src)]\n}",
    "lesser of two lengths": (
        "let n = select(len(src) < len(out), len(src), len(out))\nfor k in 0..n {\n  out[k] = src[k]\n}"
    ),
    "literal below a count": "let a = six[5]",
    "remainder by a count": "let a = six[invocation.x % 6]",
    "remainder by a length": "let a = six[invocation.x % len(six)]",
    "mask below a count": "let a = hist[src[0] & 15]",
    "shift below a count": "let a = hist[src[0] >> 28]",
    "leading zeros in a table": "let a = hist[clz(src[0]) / 4]",
    "local id": "tile[local.x] = 1",
    "local id mirrored": "tile[7 - local.x] = 1",
    "local id and a loop": "for k in 0..4 {\n  let a = tile[local.x / 2 + k]\n}",
    "halving tree": (
        "let width = 4\nif local.x < 4 {\n  tile[local.x] = tile[local.x] + tile[local.x + 4]\n}"
    ),
    "atomic": "let old = atomic_add(hist[src[0] % 16], 1)",
    "clamped": "let i = src[0]\nlet a = six[select(i < 6, i, 5)]",
    "assigned, then used": "let i = 3\ni := i + 2\nlet a = six[i]",
    "both branches small": "let i = 0\nif src[0] {\n  i := 4\n} else {\n  i := 5\n}\nlet a = six[i]",
    "not empty, so one less is inside": "if len(src) != 0 {\n  let a = src[len(src) - 1]\n}",
    "unequal to the end": f"{GUARD}if i <= len(src) {{\n  if i != len(src) {{\n    let a = src[i]\n  }}\n}}",
    "equal to what is in bounds": (
        f"{GUARD}let j = src[0]\nif i < len(out) {{\n  if j == i {{\n    out[j] = 1\n  }}\n}}"
    ),
    "the last of several": f"{SPREAD}if i + 24 < len(out) {{\n  out[i + 8] = out[i] + out[i + 24]\n}}",
    "the last of several, in two steps": f"{SPREAD}if i + 16 + 8 < len(out) {{\n  out[i + 24] = out[i]\n}}",
    "some way before the end": (
        f"{GUARD}if (len(src) >= 3) && (i < len(src) - 3) {{\n  let a = src[i + 1] + src[i + 3]\n}}"
    ),
    "some way before the lesser of two lengths": (
        f"{GUARD}let n = select(len(src) < len(out), len(src), len(out))\n"
        "if n >= 24 {\n  if i < n - 24 {\n    out[i + 24] = src[i + 8]\n  }\n}"
    ),
    "before what is from the end": f"{GUARD}if i < len(src) {{\n  let a = src[len(src) - i - 1]\n}}",
    "loop that stops before the end": (
        "if len(src) >= 2 {\n  for k in 0..len(src) - 2 {\n    let a = src[k] + src[k + 2]\n  }\n}"
    ),
    "Bool condition": f"{GUARD}if cast<Bool>(i < len(out)) {{\n  out[i] = 1\n}}",
}


@pytest.mark.parametrize("name", PROVEN)
def test_ordinary_accesses_are_proven(name: str) -> None:
    body = PROVEN[name]
    assert unproven(body) == body.count("src[0]"), "only src[0] of an unknown length may stay checked"


UNPROVEN = {
    "no guard": f"{GUARD}out[i] = 1",
    "guard for another buffer": f"{GUARD}if i < len(src) {{\n  out[i] = 1\n}}",
    "guard off by one": f"{GUARD}if i <= len(out) {{\n  out[i] = 1\n}}",
    "else-branch": f"{GUARD}if i < len(out) {{\n}} else {{\n  out[i] = 1\n}}",
    "behind the guard": f"{GUARD}if i < len(out) {{\n  barrier\n}}\nout[i] = 1",
    "either guard": f"{GUARD}if (i < len(out)) || (i < len(src)) {{\n  out[i] = 1\n}}",
    "next element": f"{GUARD}if i < len(out) {{\n  out[i + 1] = 1\n}}",
    "sum that wraps": f"{GUARD}if i < len(out) {{\n  out[i - 1] = 1\n}}",
    "assigned after the guard": ("let i = invocation.x\nif i < len(out) {\n  i := i + 1\n  out[i] = 1\n}"),
    "assigned in the loop, used before": ("let i = 0\nfor k in 0..4 {\n  let a = six[i]\n  i := i + 5\n}"),
    "remainder by a length that may be zero": "out[invocation.x % len(out)] = 1",
    "zero in a buffer that may be empty": "out[0] = 1",
    "loop from the length": "for k in 0..len(src) + 1 {\n  let a = src[k]\n}",
    "literal at the count": "let a = six[6]",
    "loaded from memory that changes": ("if out[3] < 6 {\n  let a = six[out[3]]\n}"),
    "loaded twice from memory that the program only reads": "if src[3] < 6 {\n  let a = six[src[3]]\n}",
    "loaded twice in one expression": "let a = six[select(src[0] < 6, src[0], 5)]",
    "loaded twice in a loop": "for k in 0..src[0] {\n  if src[k] < 6 {\n    let a = six[src[k]]\n  }\n}",
    "atomic compared with another": (
        "if atomic_add(hist[0], 1) < 6 {\n  let a = six[atomic_add(hist[0], 1)]\n}"
    ),
    "signed look": "let a = six[cast<U32>(-1i)]",
    "shifted out of range": "let a = six[1 << local.x]",
    "local id in a smaller buffer": "let a = six[local.x]",
    "the last of several, and one further": f"{SPREAD}if i + 24 < len(out) {{\n  out[i + 25] = 1\n}}",
    "a sum that wraps back into the buffer": f"{GUARD}if i + 24 < len(out) {{\n  out[i] = 1\n}}",
    "workgroups that do not divide 2^32": (
        "let i = workgroup.x * 24 + local.x\nif i + 16 < len(out) {\n  out[i] = 1\n}"
    ),
    "a length that may be too short": f"{GUARD}if i < len(src) - 3 {{\n  let a = src[i + 3]\n}}",
    "too little room": (f"{GUARD}if (len(src) >= 3) && (i < len(src) - 3) {{\n  let a = src[i + 4]\n}}"),
    "room in another buffer": (
        f"{GUARD}if (len(out) >= 3) && (i < len(out) - 3) {{\n  let a = src[i + 1]\n}}"
    ),
    "room for two numbers": (
        f"{GUARD}let j = src[0] & 3\nif j + 2 < len(out) {{\n  out[j + (i & 3)] = 1\n}}"
    ),
    "assigned after it was compared in a sum": (
        "let i = local.x\nif i + 3 < len(out) {\n  i := i * 2\n  out[i] = 1\n}"
    ),
    "the longer of two lengths": (
        "let n = select(len(src) < len(out), len(out), len(src))\nfor k in 0..n {\n  let a = src[k]\n}"
    ),
    "return on the wrong side": f"{GUARD}if i < len(out) {{\n  return\n}}\nout[i] = 1",
    "a branch that only may return": (
        f"{GUARD}if i >= len(out) {{\n  if src[1] {{\n    return\n  }}\n}}\nout[i] = 1"
    ),
}


@pytest.mark.parametrize("name", UNPROVEN)
def test_doubtful_accesses_keep_their_check(name: str) -> None:
    assert unproven(UNPROVEN[name]) >= 1


def test_facts_that_contradict_each_other_do_no_harm() -> None:
    never = "(len(src) >= 0xFFFFFFFF) && (i < len(src) - 0xFFFFFFFF)"
    made = program(f"{GUARD}if {never} {{\n  let a = src[4 << ~(len(src) - i)]\n}}")
    assert analyse(made).total == 1


def test_a_claim_belongs_to_its_place() -> None:
    """The same load is proven under the guard and not before it."""
    made = program(f"{GUARD}let a = src[i]\nif i < len(src) {{\n  let b = src[i]\n}}")
    found = analyse(made)
    (load,) = {x for x in expressions(made.entry) if isinstance(x, Load)}
    numbers = {path: number for number, (path, _) in enumerate(statements(made.entry))}
    assert not found.covers(numbers["entry[1]"], "src", load.index)
    assert found.covers(numbers["entry[2].then[0]"], "src", load.index)


def claims(node: Node) -> dict[tuple[str, AccessKind], set[Expr]]:
    """The indices at which a statement itself reads, writes and updates each buffer."""
    found: defaultdict[tuple[str, AccessKind], set[Expr]] = defaultdict(set)
    if isinstance(node, Store):
        found[node.buffer, AccessKind.Write].add(node.index)
    for root in node.exprs:
        for expr in postorder(root):
            if isinstance(expr, Load):
                found[expr.buffer, AccessKind.Read].add(expr.index)
            elif isinstance(expr, Atomic):
                found[expr.buffer, AccessKind.Atomic].add(expr.index)
    return found


def outside(case: Case) -> set[tuple[str, str, AccessKind]]:
    """The places where a run goes out of bounds."""
    report = run(case.program, case.inputs, case.workgroups, check=False, detect=True).report
    return {(o.access.place, o.buffer, o.access.kind) for o in report.out_of_bounds}


def broken_claims(case: Case) -> tuple[int, list[str]]:
    """How many places were claimed, and those of them where a run went out of bounds."""
    proven, seen = analyse(case.program), outside(case)
    claimed, broken = 0, list[str]()
    for number, (path, node) in enumerate(statements(case.program.entry)):
        for (buffer, kind), indices in claims(node).items():
            if all(proven.covers(number, buffer, index) for index in indices):
                claimed += 1
                if (path, buffer, kind) in seen:
                    broken.append(f"{path} {buffer}")
    return claimed, broken


class _Wrapping:
    """Moves an access whose index was said to add up out of bounds wherever the sum wraps."""

    def __init__(self, found: ProvenAccesses) -> None:
        self._found = found
        self._number = -1
        self.places = 0

    def enter(self, node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        self._number += 1
        changed = with_parts(node, tuple(transform(x, self._load) for x in node.exprs), node.bodies)
        if isinstance(node, Store) and isinstance(changed, Store) and self._adds_up(node.buffer, node.index):
            return Store(node.buffer, self._moved(node.index), changed.value), None
        return changed, None

    def _load(self, expr: Expr) -> Expr:
        if isinstance(expr, Load) and self._adds_up(expr.buffer, expr.index):
            return Load(expr.buffer, self._moved(expr.index))
        return expr

    def _adds_up(self, buffer: str, index: Expr) -> bool:
        # Memory may have another value when it is read for the second time.
        plain = not any(isinstance(x, Load | Atomic) for x in postorder(index))
        return plain and self._found.adds_up(self._number, buffer, index)

    def _moved(self, index: Expr) -> Expr:
        assert isinstance(index, BinOp)
        self.places += 1
        return Select(index < index.left, LitU32(U32_MAX), index)


def broken_sums(case: Case) -> tuple[int, bool]:
    """How many indices were said to add up, and whether that was wrong of one."""
    wrapping = _Wrapping(analyse(case.program))
    entry = rewrite_blocks(case.program.entry, wrapping.enter, None)
    made = Program(case.program.buffers, case.program.workgroup_size, entry)
    before, after = outside(case), outside(Case(made, case.inputs, case.workgroups))
    return wrapping.places, not after <= before


def test_indices_that_add_up() -> None:
    made = program(
        f"{SPREAD}let j = src[0]\nif (i + 24 < len(out)) && (j + 5 < len(out)) {{\n"
        "  out[i + 8] = six[local.x % 4 + 2]\n  out[j + 5] = 1\n}"
    )
    found = analyse(made)
    sums = {(buffer, str(index)) for _, buffer, index in found.sums}
    assert len(found.proven) == 3
    assert len(sums) == 2


def test_nothing_that_adds_up_wraps() -> None:
    places = 0
    for seed in range(200):
        case = spread_program(seed)
        number, broken = broken_sums(case)
        assert not broken, case.program
        places += number
    assert places > 300, "a check that claims nothing proves nothing"


def test_a_sum_that_wraps_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(*_: object) -> bool:
        return True

    monkeypatch.setattr(Knowledge, "no_wrap", always)
    assert any(broken_sums(spread_program(seed))[1] for seed in range(100))
    assert any(broken_claims(spread_program(seed))[1] for seed in range(100))


def with_unique_names(case: Case) -> Case:
    entry = unique_names(case.program.entry)
    made = Program(case.program.buffers, case.program.workgroup_size, entry)
    return Case(made, case.inputs, case.workgroups)


def made_cases(count: int) -> list[Case]:
    made = [indexed_program(seed) for seed in range(count)]
    made += [spread_program(seed) for seed in range(count // 3)]
    made += [Case.of(generate_program(seed, INTEGER_PROGRAMS)) for seed in range(count // 6)]
    named = [with_unique_names(case) for case in made]
    return named + [Case(optimize(c.program), c.inputs, c.workgroups) for c in named[:count:3]]


def test_nothing_that_was_claimed_goes_out_of_bounds() -> None:
    claimed = 0
    for case in made_cases(300):
        number, broken = broken_claims(case)
        assert broken == [], case.program
        claimed += number
    assert claimed > 500, "a check that claims nothing proves nothing"


FAULTS: dict[str, Callable[[Any, Any], Any]] = {
    "_add": lambda a, b: Range(0, min(a.hi + b.hi, 3)),
    "_sub": lambda a, b: Range(0, a.hi, a.rooms),
    "_mod": lambda a, b: b.below(),
    "_or": lambda a, b: Range(0, max(a.hi, b.hi)),
    "_less_or_equal": lambda a, b: (a.meet(b.below()), b),
    "_from_length": lambda left, y: Range(0, U32_MAX, tuple((name, 1) for name, _ in y.rooms)),
    "_moved": lambda rooms, by: tuple((name, max(room + by, 1)) for name, room in rooms),
    "_smaller": lambda a, b: a + b,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_unsound_analysis_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, fault, FAULTS[fault])
    for op, plain in list(ranges._BINARY.items()):
        if plain.__name__ == fault:
            monkeypatch.setitem(ranges._BINARY, op, FAULTS[fault])
    assert any(
        broken_claims(made(seed))[1] for seed in range(600) for made in (indexed_program, spread_program)
    )
