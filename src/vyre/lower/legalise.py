"""Strict floats: each float operation becomes a call, of the soft op that defines it or of a native one.

The calls stay calls: an emitter prints everything that is called as one helper function, and the target's
compiler inlines it. Float values are carried as their bits, so the casts around a call cost nothing; only
F64 values are doubles.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Call, Cast, Expr, FReduce, FReduceApprox, Load, Select, UnOp, Var
from vyre.ir.node import Assign, Let, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, rebuild, with_parts
from vyre.lower.native import F64_KEYS, PREFIX, canonical, is_native, key_of, may_be_nan
from vyre.lower.observed import Observed, OwnFloats, memory, observed
from vyre.lower.reductions import expand_reduction
from vyre.lower.ways import DOUBLE_WAY, NATIVE_WAY, SOFT_WAY
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from vyre.compose.registry import Registry
    from vyre.ir.environment import Types
    from vyre.ir.node import Node
    from vyre.lower.names import NameSupply
    from vyre.lower.reductions import Stacks
    from vyre.lower.ways import Ways


DOUBLE = "double."
"""What the id of an op begins with that computes in doubles what the soft op of the same name computes on
integers, bits in and bits out: where doubles are native it is taken instead."""


@cache
def soft_registry() -> Registry:
    from vyre.numeric.registry import SoftRegistry  # who has no floats does not wait for them

    return SoftRegistry()


def expand_reductions(
    entry: tuple[Node, ...],
    types: Types,
    supply: NameSupply,
    ways: Ways,
    used: dict[str, str],
    stacks: Stacks | None = None,
) -> tuple[Node, ...]:
    """The same statements with every reduction written out as a loop over float operations; trees lie on
    `stacks` if they are given.

    `used` takes down which way approximate sums and products went. Runs after `sequence_effects`, so that
    hoisting a fold before its statement moves it over no effect.
    """

    def statement(node: Node, _: None, out: list[Node]) -> tuple[Node, None]:
        exprs = tuple(
            _without_reductions(root, out, types, supply, ways, used, stacks) for root in node.exprs
        )
        return with_parts(node, exprs, node.bodies), None

    return rewrite_blocks(entry, statement, None)


def _without_reductions(
    root: Expr,
    out: list[Node],
    types: Types,
    supply: NameSupply,
    ways: Ways,
    used: dict[str, str],
    stacks: Stacks | None,
) -> Expr:
    if not any(isinstance(x, FReduce | FReduceApprox) for x in postorder(root)):
        return root
    from vyre.lower.approximate import expand_approximate, has_formula

    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        value = rebuild(expr, tuple(done[c] for c in expr.children))
        if isinstance(value, FReduce):
            element = types.element(value.buffer)
            assert element is not None
            native = f"{element.value.lower()}.{value.op.value.lower()}" in ways.native
            value = expand_reduction(value, element, out, supply, lazy=native, stacks=stacks)
        elif isinstance(value, FReduceApprox):
            element = types.element(value.buffer)
            assert element is not None
            if has_formula(value, element):
                value = expand_approximate(value, element, out, supply, used, doubles=ways.doubles)
        done[expr] = value
    return done[root]


@dataclass(slots=True)
class Legaliser:
    """Rewrites statements; `used` says which way each float operation took."""

    types: Types
    ways: Ways
    own: OwnFloats = field(default_factory=OwnFloats)
    used: dict[str, str] = field(default_factory=dict[str, str])
    _keys: dict[Expr, str | None] = field(default_factory=dict["Expr", "str | None"])

    def run(
        self, entry: tuple[Node, ...], result: Expr | None = None
    ) -> tuple[tuple[Node, ...], Expr | None]:
        """The same statements, and the result behind them, with float operations as calls."""
        seen = Observed()
        if self.ways.native:
            seen = observed(entry, result, self._is_float, self._is_op, self._is_raw, self.own)

        def statement(node: Node, _: None, out: list[Node]) -> tuple[Node, None]:
            if isinstance(node, Store) and node.buffer in self.own.private:
                raw = memory(node.buffer) not in seen.canonical
                exprs = self._legal(node.index, seen, raw=False), self._legal(node.value, seen, raw=raw)
                return with_parts(node, exprs, node.bodies), None
            raw = isinstance(node, Let | Assign) and node.name not in seen.canonical
            exprs = tuple(self._legal(root, seen, raw=raw) for root in node.exprs)
            return with_parts(node, exprs, node.bodies), None

        legal = rewrite_blocks(entry, statement, None)
        return legal, None if result is None else self._legal(result, seen, raw=False)

    def _is_float(self, expr: Expr) -> bool:
        return self.types.type(expr).is_float

    def _is_op(self, expr: Expr) -> bool:
        return _is_native_call(expr) or self._is_instruction(expr) or self._key(expr) is not None

    def _is_raw(self, expr: Expr) -> bool:
        """Whether a float operation may give any NaN, as instructions do and formulas do not."""
        key = self._key(expr)
        return key is None or self.ways.of(key) == NATIVE_WAY

    def _is_instruction(self, expr: Expr) -> bool:
        """A hardware instruction that computes a float; its NaN is some NaN, like that of any operation."""
        return isinstance(expr, Call) and not is_native(expr.op_id) and self._is_float(expr)

    def _key(self, expr: Expr) -> str | None:
        if expr not in self._keys:
            operands = [self.types.type(c) for c in expr.children]
            self._keys[expr] = None if _keeps_bits(expr, operands) else key_of(expr, operands)
        return self._keys[expr]

    def _legal(self, root: Expr, seen: Observed, *, raw: bool) -> Expr:
        """Each node in two forms: with raw NaNs, for operands, and with canonical ones."""
        raws: dict[Expr, Expr] = {}
        exact: dict[Expr, Expr] = {}
        for expr in postorder(root):
            key = self._key(expr)
            if key is not None:
                raws[expr], exact[expr] = self._operation(expr, key, [raws[c] for c in expr.children])
                continue
            if _is_native_call(expr):  # of a formula over doubles, which keeps NaN away from it
                raws[expr] = exact[expr] = rebuild(expr, tuple(raws[c] for c in expr.children))
                continue
            if self._is_instruction(expr):
                raws[expr] = rebuild(expr, tuple(raws[c] for c in expr.children))
                exact[expr] = canonical(self.types.type(expr), raws[expr])
                continue
            exact[expr] = rebuild(expr, tuple(exact[c] for c in expr.children))
            raws[expr] = exact[expr]
            if isinstance(expr, Select):
                raws[expr] = rebuild(expr, tuple(raws[c] for c in expr.children))
            elif _name(expr) in seen.lazy:
                t, value = self.types.type(expr), exact[expr]
                exact[expr] = _typed(canonical(t, value if t is DataType.F64 else _bits(value)), t)
        return (raws if raw else exact)[root]

    def _operation(self, expr: Expr, key: str, operands: list[Expr]) -> tuple[Expr, Expr]:
        way, result = self.ways.of(key), self.types.type(expr)
        if way == SOFT_WAY and key in F64_KEYS:
            left = rebuild(expr, tuple(operands))  # no formula on integers: `support.py` refuses it
            return left, left
        op_id = f"{way}.{key}"
        if way == SOFT_WAY and self.ways.doubles and f"{DOUBLE}{key}" in soft_registry():
            way, op_id = DOUBLE_WAY, f"{DOUBLE}{key}"
        self.used[key] = way
        kinds = [self.types.type(c) for c in expr.children]
        arguments = [x if t in _PASSED else _bits(x) for x, t in zip(operands, kinds, strict=True)]
        call = Call(op_id, arguments)
        value = _typed(call, result)
        if op_id.startswith(PREFIX) and may_be_nan(key):
            return value, _typed(canonical(result, call), result)
        return value, value


_PASSED = (DataType.U32, DataType.F64)
"""Types whose values are arguments and results of functions as they are; all others are bits."""


def _name(expr: Expr) -> str:
    """What a variable, or the private buffer that is loaded from, is called among the observed."""
    match expr:
        case Var(name=name):
            return name
        case Load(buffer=buffer):
            return memory(buffer)
        case _:
            return ""


def _typed(call: Expr, result: DataType) -> Expr:
    return call if result in _PASSED else Cast(result, call)


def _is_native_call(expr: Expr) -> bool:
    return isinstance(expr, Call) and is_native(expr.op_id)


def _keeps_bits(expr: Expr, operands: list[DataType]) -> bool:
    """Operations on the sign bit and casts from U32 are single instructions everywhere."""
    match expr:
        case UnOp(op=UnaryOp.FNeg | UnaryOp.FAbs):
            return True
        case Cast():
            return operands[0] is DataType.U32
        case _:
            return False


def _bits(value: Expr) -> Expr:
    """The bits of a value; a value that was just made from the result of a call is that result."""
    if isinstance(value, Cast) and isinstance(value.value, Call):
        return value.value
    return Cast(DataType.U32, value)
