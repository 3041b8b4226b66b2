"""What each function of `builtins.py` becomes: one small builder per function, found by its name."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from vyre.frontend.operators import choose, coerce, library, number, place, unconverted, unify
from vyre.frontend.signature import value_type
from vyre.frontend.stored import require_value
from vyre.frontend.values import (
    OPERAND,
    Buffer,
    Const,
    Effect,
    Memory,
    Operand,
    Printed,
    PyObject,
    Refused,
    Several,
    Value,
    describe,
)
from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import (
    Approx,
    Atomic,
    BinOp,
    BufLen,
    Call,
    Cast,
    Convert,
    Expr,
    FMulAdd,
    FReduce,
    FReduceApprox,
    InvocationId,
    Lane,
    LocalId,
    MakeVec,
    UnOp,
    WorkgroupId,
)
from vyre.ir.limits import U32_MAX
from vyre.ir.node import Barrier
from vyre.ir.operators import ApproxOp, AtomicOp, BinaryOp, ReduceOp, ReduceOrder, RoundMode, UnaryOp
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, FLOAT_TYPES, CastRule, binary_type, convert_type, unary_type
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

    from vyre.frontend.scalars import Scalars
    from vyre.ir.buffers import BufferDecl

_T = DataType
U32 = DataType.U32


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call, bound to the parameters of the declared signature."""

    function: str
    given: dict[str, Any]

    def __getitem__(self, name: str) -> Operand:
        return self.given[name]

    def u32(self, name: str) -> Value:
        return coerce(self[name], U32, f"`{name}` of vyre.{self.function}")

    def integer(self, name: str, low: int, high: int) -> int:
        operand = self[name]
        value = operand.value if isinstance(operand, Const) else None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(
                f"`{name}` of vyre.{self.function} is {describe(operand)}.",
                f"write a constant from {low} to {high}.",
            )
        return value

    def shape(self, name: str) -> tuple[int, ...]:
        operand = self[name]
        if not isinstance(operand, Several):
            return (self.integer(name, 1, U32_MAX),)
        parts = [Arguments(self.function, {name: part}).integer(name, 1, U32_MAX) for part in operand.items]
        if not parts or prod(parts) > U32_MAX:
            raise Refused(
                f"`{name}` of vyre.{self.function} is not a shape.", "write numbers from 1, such as (16, 16)."
            )
        return tuple(parts)

    def type(self, name: str) -> DataType:
        operand = self[name]
        found = value_type(operand.value) if isinstance(operand, PyObject) else None
        if found is None:
            raise Refused(
                f"`{name}` of vyre.{self.function} is {describe(operand)}.",
                "name a type such as u32, i32, u64, f32 or vec2.",
            )
        return found if name == "element" else require_value(found)

    def buffer(self, name: str) -> BufferDecl:
        operand = self[name]
        if not isinstance(operand, Buffer):
            raise Refused(
                f"`{name}` of vyre.{self.function} is {describe(operand)}.", "pass a buffer, not an element."
            )
        return operand.decl

    def word(self, name: str, words: dict[str, Any]) -> Any:
        operand = self[name]
        value = operand.value if isinstance(operand, PyObject) else None
        if not isinstance(value, str) or value not in words:
            raise Refused(
                f"`{name}` of vyre.{self.function} is {describe(operand)}.",
                f"write one of {', '.join(repr(w) for w in words)}.",
            )
        return words[value]


def _words(kind: type[Enum]) -> dict[str, Any]:
    return {member.value.lower(): member for member in kind}


_MODES = _words(RoundMode)
_REDUCTIONS = _words(ReduceOp)
_ORDERS = {"strict": ReduceOrder.Strict, "tree": ReduceOrder.TreeBinary}
_APPROX = {name: ApproxOp(f"F{name.capitalize()}Approx") for name in ("sin", "cos", "exp", "log", "tanh")}
_OPERATORS: dict[str, BinaryOp | UnaryOp] = {
    op.row.kernel: op for op in (*BinaryOp, *UnaryOp) if op.row.kernel
}
_ATOMICS = {
    "atomic_add": AtomicOp.Add,
    "atomic_or": AtomicOp.Or,
    "atomic_and": AtomicOp.And,
    "atomic_xor": AtomicOp.Xor,
    "atomic_min": AtomicOp.Min,
    "atomic_max": AtomicOp.Max,
    "atomic_exchange": AtomicOp.Exchange,
    "atomic_compare_exchange": AtomicOp.CompareExchange,
}


def build(function: str, given: dict[str, Any], scalars: Scalars | None) -> Operand:
    """The operand that a call of the named function stands for; `scalars` is None inside an op."""
    args = Arguments(function, given)
    if scalars is not None and function in _PLACES:
        return _PLACES[function](args, scalars)
    if function in _OPERATORS:
        return _operator(args, _OPERATORS[function])
    if function in _ATOMICS:
        return _atomic(args, _ATOMICS[function])
    return _BUILDERS[function](args)


def _id(kind: type[Expr]) -> Callable[[Arguments, Scalars], Value]:
    def place(args: Arguments, scalars: Scalars) -> Value:
        axis = args.integer("axis", 0, 2)
        scalars.beyond_x |= axis > 0 and kind is not LocalId
        return Value(kind(axis), U32, is_id=True)  # pyright: ignore[reportCallIssue]

    return place


def _grid(args: Arguments, scalars: Scalars) -> Operand:
    rank = args.integer("rank", 1, 3)
    if scalars.grid not in (0, rank):
        raise Refused(
            f"the kernel uses vyre.grid({rank}) and vyre.grid({scalars.grid}).",
            "ask for one grid in a kernel.",
        )
    scalars.grid = rank
    ids = tuple(Value(InvocationId(axis), U32, is_id=True) for axis in reversed(range(rank)))
    return ids[0] if rank == 1 else Several(ids)


_PLACES: dict[str, Callable[[Arguments, Scalars], Operand]] = {
    "invocation_id": _id(InvocationId),
    "workgroup_id": _id(WorkgroupId),
    "local_id": _id(LocalId),
    "grid": _grid,
    "num_workgroups": lambda args, scalars: scalars.workgroups(args.integer("axis", 0, 2)),
    "num_invocations": lambda args, scalars: scalars.invocations(args.integer("axis", 0, 2)),
}


def length(decl: BufferDecl) -> Value:
    return Value(BufLen(decl.name), U32)


def lane_of(operand: Operand, index: int) -> Value:
    """Lane `index` of a U64, U128, Vec2U32 or Vec4U32."""
    value = number(operand)
    if value.type not in LANE_TYPES:
        raise Refused(f"{value.type.value} has no lanes.", "take lanes of u64, u128, vec2 or vec4.")
    if not 0 <= index < value.type.lanes:
        raise Refused(
            f"{value.type.value} has no lane {index}.", f"use a lane from 0 to {value.type.lanes - 1}."
        )
    return Value(Lane(value.expr, index), U32)


def make(target: DataType, lanes: tuple[Operand, ...]) -> Value:
    """A lane type from its lanes."""
    if target not in LANE_TYPES:
        raise Refused(f"{target.value} has no lanes.", "make u64, u128, vec2 or vec4.")
    if len(lanes) != target.lanes:
        raise Refused(f"{target.value} takes {target.lanes} lanes and got {len(lanes)}.", "give that many.")
    return Value(MakeVec(target, tuple(coerce(x, U32, "a lane").expr for x in lanes)), target)


def cast_to(target: DataType, operand: Operand) -> Value:
    """A value of another type of the same kind, or a refusal that names the alternative."""
    value = number(operand)
    if (value.type in FLOAT_TYPES) != (target in FLOAT_TYPES):
        raise unconverted(f"vyre.cast does not go from {value.type.value} to {target.value}.", value, target)
    if target is DataType.Bytes and value.type is U32:
        return Value(Cast(target, value.expr), U32)  # validation knows the words that are of Bytes
    if (value.type, target) not in CAST_TABLE:
        raise unconverted(f"there is no cast from {value.type.value} to {target.value}.", value, target)
    return Value(Cast(target, value.expr), target)


def _operator(args: Arguments, op: BinaryOp | UnaryOp) -> Value:
    """The operator on the arguments in the order of the declared parameters."""
    if op.row.is_float:
        return _float_binary(args, op) if isinstance(op, BinaryOp) else _float_unary(args, op)
    operands = [args.u32(name).expr for name in args.given]
    return Value(BinOp(op, *operands) if isinstance(op, BinaryOp) else UnOp(op, *operands), U32)


def _float_unary(args: Arguments, op: UnaryOp) -> Value:
    value = number(args["value"])
    result = unary_type(op, value.type)
    if result is None:
        hint = (
            f"write vyre.{args.function}(vyre.cast({OPERAND}, f32)), which rounds it to f32 first."
            if value.type in FLOAT_TYPES
            else f"write vyre.{args.function}(vyre.convert({OPERAND}, f32)), which rounds beyond 2^24."
        )
        raise Refused(f"vyre.{args.function} has no meaning on {value.type.value}.", hint, value)
    return Value(UnOp(op, value.expr), result, logical=result is U32)


def _float_binary(args: Arguments, op: BinaryOp) -> Value:
    a, b = unify(f"vyre.{args.function}", *args.given.values())
    if binary_type(op, a.type, b.type) is None:
        raise Refused(f"vyre.{args.function} has no meaning on {a.type.value}.", "use f16, bf16 or f32.")
    return Value(BinOp(op, a.expr, b.expr), a.type)


def _extreme(args: Arguments, op: BinaryOp) -> Operand:
    left, right, *more = args["a"], args["b"], *args.given.get("more", ())
    if more:
        first = _extreme(Arguments(args.function, {"a": left, "b": right}), op)
        return _extreme(Arguments(args.function, {"a": first, "b": more[0], "more": more[1:]}), op)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(min(left.value, right.value) if args.function == "min" else max(left.value, right.value))
    a, b = unify(args.function, left, right)
    if a.type in FLOAT_TYPES:
        return Value(BinOp(op, a.expr, b.expr), a.type)
    if a.type is U32:
        return Value(Call(f"integer.{args.function}", (a.expr, b.expr)), U32)
    return library(args.function, args.function, a.type, a, b)


def _magnitude(args: Arguments) -> Operand:
    operand = args["value"]
    if isinstance(operand, Const):
        return Const(abs(operand.value))
    value = number(operand)
    if value.type in FLOAT_TYPES:
        return Value(UnOp(UnaryOp.FAbs, value.expr), value.type)
    if value.type in (U32, _T.U64):
        raise Refused(
            f"`abs` has no meaning on {value.type.value}, which has no sign.",
            "write max(a, b) - min(a, b) for the distance of two numbers.",
        )
    return library("abs", "abs", value.type, value)


def _atomic(args: Arguments, op: AtomicOp) -> Value:
    decl = args.buffer("buffer")
    if decl.element is not U32:
        raise Refused(
            f"vyre.{args.function} takes a buffer of U32, and {decl.name!r} holds {decl.element.value}.",
            "store each part, and add them up by vyre.engines.reduce on the host."
            if decl.element in FLOAT_TYPES
            else "make it a u32 buffer; sums of signed numbers have the same bits there.",
        )
    if not decl.access.atomic:
        raise Refused(
            f"vyre.{args.function} needs a writable buffer, and {decl.name!r} is {decl.access.value}.",
            "annotate it Out, InOut or SharedAtomic, or write vyre.shared(u32, n, atomic=True).",
        )
    expected = args.u32("expected").expr if op is AtomicOp.CompareExchange else None
    index = place(args["index"], f"`index` of vyre.{args.function}").expr
    return Value(Atomic(op, decl.name, index, args.u32("value").expr, expected), U32)


def _bitcast(args: Arguments) -> Value:
    value, target = number(args["value"]), args.type("target")
    rule = CAST_TABLE.get((value.type, target))
    crosses = (value.type in FLOAT_TYPES) != (target in FLOAT_TYPES)
    if rule is None or not (crosses or rule in (CastRule.Bitcast, CastRule.Identity)):
        raise unconverted(f"{value.type.value} and {target.value} have no common bits.", value, target)
    return Value(Cast(target, value.expr), target)


def _convert(args: Arguments) -> Value:
    return convert_to(args.type("target"), number(args["value"]), args.word("mode", _MODES))


def convert_to(target: DataType, value: Value, mode: RoundMode = RoundMode.Nearest) -> Value:
    """The value in another type: between integers and floats."""
    if convert_type(target, mode, value.type) is None:
        if convert_type(target, RoundMode.Nearest, value.type) is not None:
            raise Refused("integers become floats to nearest only.", 'leave mode= out, or write "nearest".')
        message = f"vyre.convert does not go from {value.type.value} to {target.value}."
        raise unconverted(message, value, target)
    return Value(Convert(target, mode, value.expr), target)


def _fma(args: Arguments) -> Value:
    operands = [args[name] for name in "abc"]
    first = next((number(x) for x in operands if not isinstance(x, Const)), None)
    if first is None or first.type not in FLOAT_TYPES:
        found = first.type.value if first else "constants"
        raise Refused(f"vyre.fma takes floats and got {found}.", "write a * b + c for integers.")
    a, b, c = (coerce(x, first.type, "an operand of vyre.fma").expr for x in operands)
    return Value(FMulAdd(a, b, c), first.type)


def _reduce_range(args: Arguments) -> tuple[ReduceOp, BufferDecl, Value, Value]:
    decl = args.buffer("buffer")
    if decl.element not in FLOAT_TYPES:
        raise Refused(
            f"vyre.{args.function} folds floats, and {decl.name!r} holds {decl.element.value}.",
            "write a `for` loop; integer addition has one result in any order.",
        )
    return args.word("op", _REDUCTIONS), decl, args.u32("start"), args.u32("stop")


def _reduce(args: Arguments) -> Value:
    op, decl, start, stop = _reduce_range(args)
    order = args.word("order", _ORDERS)
    return Value(FReduce(order, op, decl.name, start.expr, stop.expr), decl.element)


def _reduce_approx(args: Arguments) -> Value:
    op, decl, start, stop = _reduce_range(args)
    ulps = args.integer("ulps", 1, 0xFFFF_FFFF)
    return Value(FReduceApprox(op, decl.name, start.expr, stop.expr, ulps), decl.element)


def _approx(args: Arguments) -> Value:
    op = args.word("function", _APPROX)
    value = number(args["value"])
    if value.type not in FLOAT_TYPES - {_T.F64}:
        raise Refused(f"vyre.approx has no meaning on {value.type.value}.", "use f16, bf16 or f32.")
    return Value(Approx(op, value.expr, args.integer("ulps", 1, 0xFFFF_FFFF)), value.type)


def _shared(args: Arguments) -> Memory:
    atomic = args["atomic"]
    if not (isinstance(atomic, Const) and isinstance(atomic.value, bool)):
        raise Refused(f"`atomic` of vyre.shared is {describe(atomic)}.", "write atomic=True or leave it out.")
    access = BufferAccess.WorkgroupAtomic if atomic.value else BufferAccess.Workgroup
    return Memory(access, args.type("element"), args.shape("count"))


def _bounded(_: Arguments) -> Operand:
    raise Refused("vyre.bounded is the condition of a loop.", "write while vyre.bounded(condition, 1000):.")


_BUILDERS: dict[str, Callable[[Arguments], Operand]] = {
    "barrier": lambda _: Effect(Barrier()),
    "debug_print": lambda args: Printed(args.given.get("values", ())),
    "shared": _shared,
    "private": lambda args: Memory(BufferAccess.Private, args.type("element"), args.shape("count")),
    "bounded": _bounded,
    "select": lambda args: choose(args["condition"], args["if_true"], args["if_false"]),
    "cast": lambda args: cast_to(args.type("target"), args["value"]),
    "bitcast": _bitcast,
    "convert": _convert,
    "lane": lambda args: lane_of(args["value"], args.integer("index", 0, 3)),
    "from_lanes": lambda args: make(args.type("target"), args.given.get("lanes", ())),
    "fma": _fma,
    "min": lambda args: _extreme(args, BinaryOp.FMin),
    "max": lambda args: _extreme(args, BinaryOp.FMax),
    "abs": _magnitude,
    "freduce": _reduce,
    "freduce_approx": _reduce_approx,
    "approx": _approx,
}
