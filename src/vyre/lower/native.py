"""Native float operations: what each takes and gives, the same in every language.

A native operation has the signature of the soft op that it stands for: bits in, bits out, as U32. Only F64
values are doubles, in operands, results and variables, and become bits where they are loaded and stored. A
NaN result is some NaN: `legalise` makes it the canonical one at the first use that can tell (decision 7).

F16 and BF16 go through F32, where rounding twice is harmless for + - * / and sqrt (`docs/numeric.md`). It is
not for fma, which stays soft, and so does everything that is a few integer instructions anyway.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.operators import RoundMode
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType
from vyre.numeric.guarded import RANGES
from vyre.numeric.soft import lowering, soft_op_for

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "native."

ARITHMETIC = ("add", "sub", "mul", "div")
COMPARISONS = ("eq", "ne", "lt", "gt", "le", "ge")
ROUNDINGS = ("floor", "ceil", "round", "trunc")
_MODES = tuple(mode.value.lower() for mode in RoundMode)
TO_INTEGERS = tuple(f"to_{t}_{mode}" for t in ("i32", "u32") for mode in _MODES)
_COMMON = (
    *ARITHMETIC,
    "fma",
    "sqrt",
    "min",
    "max",
    *COMPARISONS,
    *ROUNDINGS,
    *TO_INTEGERS,
    "from_i32",
    "from_u32",
)

F32_KEYS = frozenset(f"f32.{name}" for name in _COMMON)
F64_KEYS = frozenset(f"f64.{name}" for name in (*_COMMON, "is_nan", "is_inf", "to_f32", "from_f32", "canon"))
F16_KEYS = frozenset({*(f"f16.{name}" for name in (*ARITHMETIC, "sqrt", "to_f32")), "f32.to_f16"})
HALF_KEYS = F16_KEYS | {f"bf16.{name}" for name in (*ARITHMETIC, "sqrt")}
ALL_KEYS = F32_KEYS | F64_KEYS | HALF_KEYS
GUARDED_RANGES = {f"f32.{name}": bounds for name, bounds in RANGES.items()}
"""The operations that can be native within a range, with it: see `vyre.numeric.guarded`."""

CHAIN_KEY = "f32.chain"
"""Sums in a loop, natively as a whole: see `vyre.lower.guarded_loops`."""

GUARDED_KEYS = frozenset({*GUARDED_RANGES, CHAIN_KEY})

WORD_KEYS = frozenset(
    f"f64.{name}"
    for name in ("low_word", "high_word", "joined", "scale", "quotient", "short_quotient", "root")
)
"""What formulas over doubles need beside the operations: see `vyre.numeric.doubles.script`."""

_MAKES_NAN = frozenset({*ARITHMETIC, "fma", "sqrt", "min", "max", *ROUNDINGS, "to_f32", "from_f32", "to_f16"})


def is_native(op_id: str) -> bool:
    return op_id.startswith(PREFIX)


def key_of(expr: e.Expr, operands: Sequence[DataType]) -> str | None:
    """The name of a float operation over operands of these types; None for everything else."""
    if DataType.F64 not in operands and _target(expr) is not DataType.F64:
        op_id = lowering(expr, operands)
        return None if op_id is None else op_id.removeprefix("soft.")
    match expr:
        case e.BinOp(op=op) | e.UnOp(op=op):
            return _f64(soft_op_for(op, DataType.F32))
        case e.FMulAdd():
            return "f64.fma"
        case e.Cast(target=DataType.F32):
            return "f64.to_f32"
        case e.Cast(target=DataType.F64) if operands[0] is DataType.F32:
            return "f64.from_f32"
        case e.Convert(target=DataType.F64):
            return f"f64.from_{operands[0].value.lower()}"
        case e.Convert(target=target, mode=mode):
            return f"f64.to_{target.value.lower()}_{mode.value.lower()}"
        case _:
            return None


def _target(expr: e.Expr) -> DataType | None:
    return expr.target if isinstance(expr, e.Cast | e.Convert) else None


def _f64(op_id: str | None) -> str | None:
    return None if op_id is None else f"f64.{op_id.rpartition('.')[2]}"


def may_be_nan(key: str) -> bool:
    """Whether the result of the native operation can be a NaN that is not the canonical one."""
    return key.partition(".")[2] in _MAKES_NAN


def canonical(result: DataType, value: e.Expr) -> e.Expr:
    """The same number, every NaN as the canonical one. `value` is the result of an operation."""
    if result is DataType.F64:
        return e.Call(f"{PREFIX}f64.canon", [value])
    return e.Call(f"soft.{result.value.lower()}.canon", [value])


@cache
def native_signature(op_id: str) -> OpSignature:
    """Operands and result of a native operation, as its function takes and gives them."""
    fmt, _, name = op_id.removeprefix(PREFIX).partition(".")
    own = DataType.F64 if fmt == "f64" else DataType.U32
    if name.startswith("from_"):
        return OpSignature((DataType.U32,), own)
    if name == "scale":
        return OpSignature((own, DataType.U32), own)
    if name == "joined":
        return OpSignature((DataType.U32, DataType.U32), own)
    two = name in (*ARITHMETIC, *COMPARISONS, "min", "max", "quotient", "short_quotient")
    arity = 2 if two else 3 if name == "fma" else 1
    bits = name in (*COMPARISONS, "is_nan", "is_inf", "low_word", "high_word") or name.startswith("to_")
    return OpSignature((own,) * arity, DataType.U32 if bits else own)
