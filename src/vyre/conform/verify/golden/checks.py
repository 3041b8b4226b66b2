"""Golden rows that run nothing: types, layouts of views, signatures, and what the validator says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.compose.registry import Registry, default_registry
from vyre.conform.verify.golden.law_checks import check_law
from vyre.conform.verify.golden.outcome import RowOutcome, Status, compared
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.convention import kept
from vyre.ir.expr import Atomic, Call, Cast, Expr, LitU32, Load, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.op import Op, Param
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.signature import V1, V2, OpSignature
from vyre.ir.types import DataType, TensorType
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.oracle.golden.rows import Row
    from vyre.errors import Diagnostic
    from vyre.ir.signature import Convention

_T = DataType
_ZERO = LitU32(0)
_CALL_NUMBER = re.compile(r"__call\d+_")  # how the inliner counts its calls is not a promise


def _type(row: Row) -> RowOutcome:
    of = _T(row["type"])
    return compared(row, (row["min_bytes"], row["lanes"]), (of.min_bytes(), of.lanes))


def _tensor(row: Row) -> RowOutcome:
    strides = row["strides"] if row.fields.get("explicit") else None
    view = TensorType(_T(row["element"]), row["shape"], strides)
    if view.is_dynamic:
        view = view.resolve(row["sizes"])
    actual = (list(view.strides), view.linear_index(row["index"]))
    return compared(row, (row["strides"], row["element_at"]), actual)


def _signature(row: Row) -> RowOutcome:
    signature = OpSignature(tuple(_T(t) for t in row["inputs"]), _T(row["output"]))
    return compared(row, row["min_input_bytes"], signature.min_input_bytes())


def _convention(row: Row) -> RowOutcome:
    variant: type[V1 | V2] = {"V1": V1, "V2": V2}[row["variant"]]
    if sorted(variant.__match_args__) != sorted(row["fields"]):
        return compared(row, sorted(row["fields"]), sorted(variant.__match_args__))
    made = variant(**row["fields"])
    return compared(row, row["fields"], {name: getattr(made, name) for name in variant.__match_args__})


def _convention_kept(row: Row) -> RowOutcome:
    """Which convention the buffers of a program keep, the simplest one; None for no convention."""
    from vyre.text import parse_program

    program = parse_program("\n".join(row["text"]))
    found = kept(program.buffers)
    return compared(row, row["convention"], _shown(found[0]) if found else None, program=str(program))


def _shown(convention: Convention) -> str:
    return f"V2({convention.lookup_binding})" if isinstance(convention, V2) else "V1"


def _access(row: Row) -> RowOutcome:
    access = BufferAccess(row["access"])
    binding = 0 if access.bound else None
    data = bytes(64) if access is BufferAccess.Constant else b""
    buffer = BufferDecl("b", binding, access, _T.U32, 16, data)
    uses: dict[str, Node] = {
        "load": Let("x", Load("b", _ZERO)),
        "store": Store("b", _ZERO, LitU32(1)),
        "atomic": Let("x", Atomic(AtomicOp.Add, "b", _ZERO, LitU32(1))),
    }
    program = Program([buffer], (1,), [uses[row["use"]]])
    return _judged(row, _validated(program), [row["code"]] if row["code"] else [], str(program))


def _cast_refused(row: Row) -> RowOutcome:
    source, target = _T(row["from"]), _T(row["to"])
    if source is _T.Bytes:  # a Bytes value exists only as a parameter; loads give U32 words
        op = Op("golden.cast", (Param("p", source),), target, Cast(target, Var("p")))
        found, text = _op_diagnostics(op)
    else:
        program = _reading(source, Cast(target, Load("a", _ZERO)))
        found, text = _validated(program), str(program)
    return _judged(row, found, [row["code"]], text)


def _cast_identity(row: Row) -> RowOutcome:
    pair = (_T(row["from"]), _T(row["to"]))
    return compared(row, CastRule.Identity, CAST_TABLE.get(pair))


def _cast_pairs(row: Row) -> RowOutcome:
    actual = sorted(f"{a.value}->{b.value}" for a, b in CAST_TABLE)
    missing = sorted(set(row["pairs"]) - set(actual))
    surplus = sorted(set(actual) - set(row["pairs"]))
    return compared(row, "missing [], surplus []", f"missing {missing}, surplus {surplus}")


def _call_type(row: Row) -> RowOutcome:
    argument, parameter = _T(row["argument"]), _T(row["parameter"])
    taker = Op("golden.take", (Param("p", parameter),), _T.U32, _ZERO)
    codes = [row["code"]] if row["code"] else []
    if argument is _T.Bytes:
        outer = Op("golden.outer", (Param("p", argument),), _T.U32, Call("golden.take", (Var("p"),)))
        found, text = _op_diagnostics(outer, taker)
    else:
        program = _reading(argument, Call("golden.take", (Load("a", _ZERO),)))
        found, text = _validated(program, taker), str(program)
    return _judged(row, found, codes, text)


def _invalid(row: Row) -> RowOutcome:
    from vyre.text import parse_op, parse_program

    program = parse_program("\n".join(row["text"]))
    ops = [parse_op("\n".join(text)) for text in row.fields.get("ops", ())]
    return _judged(row, _validated(program, *ops), row["codes"], str(program))


def _valid_op(row: Row) -> RowOutcome:
    from vyre.text import parse_op

    found, text = _op_diagnostics(parse_op("\n".join(row["text"])))
    return _judged(row, found, row["codes"], text)


def _inline(row: Row) -> RowOutcome:
    from vyre.compose.inline import inline
    from vyre.text import parse_op, parse_program

    registry = default_registry().extend(parse_op("\n".join(text)) for text in row.fields.get("ops", ()))
    program = parse_program("\n".join(row["text"]))
    expected = parse_program("\n".join(row["inlined"]))
    actual = inline(program, registry)
    texts = [_CALL_NUMBER.sub("__callN_", p.to_text()) for p in (expected, actual)]
    return compared(row, texts[0], texts[1], program=str(program))


def _judged(row: Row, found: list[Diagnostic], codes: list[str], text: str) -> RowOutcome:
    """The codes must be exactly these, and the advice must name what the row says it names."""
    actual = sorted({d.code for d in found})
    if actual != sorted(codes):
        shown = "; ".join(map(str, found)) or "valid"
        return RowOutcome(row, Status.Failed, 1, "", ", ".join(codes) or "valid", shown, text)
    mentions: list[str] = row.fields.get("fix_mentions", [])
    advice = " ".join(d.fix for d in found)
    if not all(word in advice for word in mentions):
        return RowOutcome(
            row, Status.Failed, 1, "", f"Fix: … {' … '.join(mentions)} …", f"Fix: {advice}", text
        )
    return RowOutcome(row, Status.Passed, 1)


def _reading(element: DataType, value: Expr) -> Program:
    return Program([BufferDecl.read("a", 0, element, count=1)], (1,), [Let("x", value)])


def _validated(program: Program, *ops: Op) -> list[Diagnostic]:
    from vyre.validate import validate

    return validate(program, registry=default_registry().extend(ops))


def _op_diagnostics(op: Op, *others: Op) -> tuple[list[Diagnostic], str]:
    from vyre.text import print_op
    from vyre.validate import validate_op

    return validate_op(op, registry=Registry(others)), print_op(op)


CHECKS: Mapping[str, Callable[[Row], RowOutcome]] = {
    "type": _type,
    "tensor": _tensor,
    "signature": _signature,
    "convention": _convention,
    "convention_kept": _convention_kept,
    "access": _access,
    "cast_refused": _cast_refused,
    "cast_identity": _cast_identity,
    "cast_pairs": _cast_pairs,
    "call_type": _call_type,
    "invalid": _invalid,
    "op": _valid_op,
    "inline": _inline,
    "law": check_law,
}
"""How each kind that runs nothing is checked."""
