"""`intrinsic.subgroupW.*`: exchange between W lanes, as a function of all lanes' operands.

The operands of such a spec are those of lane 0 to lane W - 1, first operands before second ones, and its
results are those of the lanes, in order. One application takes W invocations, so no kernel with a case for
each invocation runs it: the stage `subgroups` has programs for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import U32, c
from vyre.conform.registry.ids import NE, SHR
from vyre.conform.registry.library.operands import whole
from vyre.conform.spec.edges import MAX
from vyre.conform.spec.law import Bounded, Custom, ap
from vyre.conform.spec.op import EquivalenceClass, LanesForm, OpSpec
from vyre.conform.spec.term import Apply, Equation
from vyre.ir.signature import OpSignature
from vyre.ops.intrinsics.subgroup import ops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.conform.registry.build import Func
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.term import Term
    from vyre.ir.op import Op
    from vyre.semantics.domain import Domain

    D = Domain[Any]
    Chosen = Callable[[D, int, Any, int], Any]

_SHUFFLES: dict[str, Chosen] = {
    "shuffle": lambda d, own, lane, width: d.and_(lane, d.const(width - 1)),
    "shuffle_xor": lambda d, own, mask, width: d.xor(d.const(own), d.and_(mask, d.const(width - 1))),
    "shuffle_up": lambda d, own, by, width: _inside(d, own, width, d.sub(d.const(own), _low(d, by, width))),
    "shuffle_down": lambda d, own, by, width: _inside(d, own, width, d.add(d.const(own), _low(d, by, width))),
}
"""The number of the lane whose value a lane gets, by the lane's own number and its second operand."""

_JOINS: dict[str, Callable[[D, Any, Any], Any]] = {
    "reduce_add": lambda d, a, b: d.add(a, b),
    "reduce_min": lambda d, a, b: d.ite(d.ult(a, b), a, b),
    "reduce_max": lambda d, a, b: d.ite(d.ult(a, b), b, a),
    "reduce_and": lambda d, a, b: d.and_(a, b),
    "reduce_or": lambda d, a, b: d.or_(a, b),
    "reduce_xor": lambda d, a, b: d.xor(a, b),
}


def _low(d: D, word: Any, width: int) -> Any:
    return d.and_(word, d.const(width - 1))


def _inside(d: D, own: int, width: int, lane: Any) -> Any:
    """The lane, or the own one where there is none of that number."""
    return d.ite(d.ult(lane, d.const(width)), lane, d.const(own))


def _shuffled(chosen: Chosen, width: int) -> Callable[..., Any]:
    def definition(d: D, *words: Any) -> Any:
        values, others = words[:width], words[width:]
        found: list[Any] = []
        for own in range(width):
            lane, value = chosen(d, own, others[own], width), values[0]
            for k in range(1, width):
                value = d.ite(d.eq(lane, d.const(k)), values[k], value)
            found.append(value)
        return tuple(found)

    return definition


def _ballot(d: D, *conditions: Any) -> Any:
    mask = d.const(0)
    for k, condition in enumerate(conditions):
        mask = d.or_(mask, d.shl(d.ne(condition, d.const(0)), d.const(k)))
    return (mask,) * len(conditions)


def _reduced(join: Callable[[D, Any, Any], Any]) -> Callable[..., Any]:
    """Halves of the lanes with each other, then of what is left: no order of its own shows in the result."""

    def definition(d: D, *values: Any) -> Any:
        left = list(values)
        while len(left) > 1:
            half = len(left) // 2
            left = [join(d, a, b) for a, b in zip(left[:half], left[half:], strict=True)]
        return (left[0],) * len(values)

    return definition


def _lanes(op: str, args: Sequence[Term], width: int) -> list[Term]:
    """What every lane gets."""
    return [Apply(op, tuple(args), k) for k in range(width)]


def _law(name: str, count: int, predicate: Callable[..., Any]) -> Custom:
    return Custom(name, predicate, (U32,) * count)


def _shared(op: str, width: int) -> Custom:
    def equations(f: Func, *values: Term) -> tuple[Equation, ...]:
        first, *rest = _lanes(op, values, width)
        return tuple(Equation(other, first) for other in rest)

    return _law("every lane gets the same", width, equations)


def _turned(width: int) -> Custom:
    def equation(f: Func, *values: Term) -> Equation:
        return Equation(f(*values), f(*values[1:], values[0]))

    return _law("lanes may be turned around", width, equation)


_OF_ONE: dict[str, Callable[[Any, int], Any]] = {
    "reduce_add": lambda a, width: ap("primitive.math.mul", a, c(width)),
    "reduce_xor": lambda a, width: c(0),
}


def _uniform(name: str, width: int) -> Custom:
    def equation(f: Func, a: Term) -> Equation:
        made = _OF_ONE.get(name)
        return Equation(f(*(a,) * width), a if made is None else made(a, width))

    return _law("of one value in all lanes", 1, equation)


def _bits(op: str, width: int) -> Custom:
    def equations(f: Func, *conditions: Term) -> tuple[Equation, ...]:
        found = Apply(op, tuple(conditions))
        return tuple(
            Equation(ap("primitive.bitwise.and", ap(SHR, found, c(k)), c(1)), ap(NE, condition, c(0)))
            for k, condition in enumerate(conditions)
        )

    return _law("bit k tells of lane k", width, equations)


def _own(op: str, width: int, numbers: Sequence[int]) -> Custom:
    """Second operands by which every lane gets its own value."""

    def equations(f: Func, *values: Term) -> tuple[Equation, ...]:
        found = _lanes(op, (*values, *(c(n) for n in numbers)), width)
        return tuple(Equation(lane, value) for lane, value in zip(found, values, strict=True))

    return _law("each its own", width, equations)


def _of_lane(op: str, width: int, at: int, of: int, by: int, name: str) -> Custom:
    """What one lane gets where all second operands are `by`."""

    def equation(f: Func, *values: Term) -> Equation:
        return Equation(Apply(op, (*values, *(c(by),) * width), at), values[of])

    return _law(name, width, equation)


def _promises(op: Op, name: str) -> tuple[Callable[..., Any], tuple[AlgebraicLaw, ...]]:
    width = op.lanes
    if name in _JOINS:
        laws = (_shared(op.id, width), _turned(width), _uniform(name, width))
        # Solvers take minutes to see that the sum of eight lanes and more may be turned around.
        kept = tuple(law for law in laws if not (law is laws[1] and name == "reduce_add" and width > 4))
        return _reduced(_JOINS[name]), kept
    if name == "ballot":
        return _ballot, (_shared(op.id, width), _bits(op.id, width), Bounded(0, MAX >> (32 - width)))
    own = range(width) if name == "shuffle" else [0] * width
    last = width - 1
    more = {
        "shuffle": _of_lane(op.id, width, 0, last, last, "lane 0 gets the value of the last"),
        "shuffle_xor": _of_lane(op.id, width, 0, last, last, "by all ones, the last lane's goes to lane 0"),
        "shuffle_up": _of_lane(op.id, width, last, last - 1, 1, "by 1, the last lane gets its neighbour's"),
        "shuffle_down": _of_lane(op.id, width, last, last, 1, "by 1, the last lane keeps its own"),
    }
    return _shuffled(_SHUFFLES[name], width), (_own(op.id, width, own), more[name])


def _alike(width: int) -> EquivalenceClass:
    """All lanes have one value."""

    def contains(d: D, *words: Any) -> Any:
        same = d.const(1)
        for word in words[1:width]:
            same = d.and_(same, d.eq(word, words[0]))
        return same

    def sample(d: D, *words: Any) -> Any:
        return (*(words[0] for _ in range(width)), *words[width:])

    return EquivalenceClass("all lanes have one value", contains, sample)


def _spec(op: Op) -> OpSpec:
    name = op.id.rpartition(".")[2]
    width = op.lanes
    definition, laws = _promises(op, name)
    count = width * len(op.params)
    assert op.backend_availability is not None
    where = op.backend_availability.backends
    return OpSpec(
        op.id,
        OpSignature((U32,) * count, U32),
        definition,
        LanesForm(width),
        op.doc.replace("`", ""),
        category="C",
        properties=laws,
        classes=(whole(), _alike(width)),
        extra_results=(U32,) * (width - 1),
        hardware=op.hardware,
        availability=lambda backend: backend in where,
    )


def specs() -> list[OpSpec]:
    """Of every width, in the order of the instructions."""
    return [_spec(op) for op in ops()]
