"""The corners of the rules: scopes, types of every operand, buffers, limits, and one error per mistake."""

from __future__ import annotations

import pytest

from vyre.errors import SourceLocation, ValidationError
from vyre.ir import (
    AtomicOp,
    BinaryOp,
    BufferAccess,
    BufferDecl,
    Cast,
    DataType,
    Let,
    LitU32,
    Loop,
    Program,
    Store,
    UnaryOp,
    Var,
)
from vyre.ir import expr as e
from vyre.ir.operators import SIGN_AGNOSTIC_OPS
from vyre.ir.typing import CAST_TABLE, binary_type, unary_type
from vyre.text import parse_program
from vyre.validate import check, validate
from vyre.validate.mismatch import SIGNED_OPS

HEADER = """\
vyre 1
workgroup 64 1 1
buffer a: readonly U32 @0
buffer out: readwrite U32 @1
buffer ints: readwrite I32 @2
buffer reals: readwrite F32 @3
buffer data: readwrite Bytes @4
buffer tile: workgroup U32[64]
buffer hits: workgroup_atomic U32[4]
"""
LITERALS = {
    DataType.U32: "1",
    DataType.I32: "1i",
    DataType.Bool: "true",
    DataType.U64: "u64(1)",
    DataType.U128: "u128(1)",
    DataType.Vec2U32: "make<Vec2U32>(1, 2)",
    DataType.Vec4U32: "make<Vec4U32>(1, 2, 3, 4)",
    DataType.F32: "f32(1.0)",
    DataType.F16: "f16(1.0)",
    DataType.BF16: "bf16(1.0)",
    DataType.F64: "f64(1.0)",
}


def parse(body: str) -> Program:
    return parse_program(f"{HEADER}entry {{\n{body}\n}}\n")


def codes(body: str) -> list[str]:
    return [d.code for d in validate(parse(body))]


def places(body: str) -> list[tuple[str, str]]:
    return [(d.code, d.path) for d in validate(parse(body))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let x = 1\nlet x = 2", ["V008"]),
        ("let x = 1\nif 1 { let x = 2 }", ["V008"]),
        ("for x in 0..4 { let x = 2 }", ["V008"]),
        ("for x in 0..4 { for x in 0..4 { } }", ["V008"]),
        ("let k = 1\nfor k in 0..4 { }", ["V008"]),
        ("let x = 1\nfor k in 0..4 { }\nlet k = 1", []),
        ("if 1 { let x = 1 } else { let x = 2i }", []),
        ("for k in 0..k { }", ["V006"]),
        ("let x = x", ["V006"]),
        ("out[0] = y\nout[1] = y", ["V006", "V006"]),
        ("out[0] = y + y", ["V006"]),
        ("x := 1", ["V006"]),
        ("let a = 1\nout[0] = a", []),
        ("for k in 0..4 { if 1 { k := 1 } }", ["V011"]),
        ("for k in 0..4 { }\nout[0] = k", ["V006"]),
        ("block { let x = 1 }\nx := 2", ["V006"]),
        ("let x = 1\nblock { x := 2 }\nout[0] = x", []),
    ],
)
def test_scopes(body: str, expected: list[str]) -> None:
    assert codes(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let x = 1i + 1", ["V021"]),
        ("let x = true && false", []),
        ("let x = true + true", ["V021"]),
        ("let x = u64(1) + u64(1)", ["V021"]),
        ("let x = f32(1.0) + f32(1.0)", ["V021"]),
        ("let x = fadd(f32(1.0), f64(1.0))", ["V021"]),
        ("let x = fpow(f64(1.0), f64(1.0))", ["V021"]),
        ("let x = fadd(1, 2)", ["V021"]),
        ("let x = !true", []),
        ("let x = -1i\nlet y = ~x", []),
        ("let x = clz(true)", ["V026"]),
        ("let x = fsin(f64(1.0))", ["V026"]),
        ("let x = fsqrt(f64(1.0))", []),
        ("let x = select(1i, 1, 2)", ["V026"]),
        ("let x = select(1, 1, 2i)", ["V026"]),
        ("let x = select(1i, 1, 2i)", ["V026", "V026"]),
        ("let x = fma(f32(1.0), f32(1.0), f64(1.0))", ["V026"]),
        ("let x = fma(1, 1, 1)", ["V026"]),
        ("let x = convert<F32, Floor>(1)", ["V026"]),
        ("let x = convert<I32, Floor>(f64(1.0))", []),
        ("let x = convert<U32, Nearest>(1)", ["V026"]),
        ("let x = convert<Bytes, Nearest>(f32(1.0))", ["V026"]),
        ("let x = a[1i]", ["V026"]),
        ("out[1i] = 1", ["V026"]),
        ("out[true] = 1i", ["V026", "V036"]),
        ("let x = (5).0", ["V026"]),
        ("let x = u64(5).2", ["V041"]),
        ("let x = u128(5).3", []),
        ("let x = make<Vec2U32>(1)", ["V041"]),
        ("let x = make<Vec2U32>(1i, true)", ["V026", "V026"]),
        ("let x = make<F32>(1)", ["V026"]),
        ("let x = make<Bytes>(1)", ["V013"]),
        ("let x = approx<FSinApprox, 4>(f64(1.0))", ["V026"]),
        ("let x = approx<FSinApprox, 4>(f16(1.0))", []),
        ("let x = freduce_tree<Add>(reals, 0..4)", []),
        ("let x = freduce_tree<Add>(out, 0..4)", ["V026"]),
        ("let x = freduce_tree<Add>(data, 0..4)", ["V013"]),
        ("let x = freduce_tree<Add>(reals, 0i..4i)", ["V026", "V026"]),
        ("let x = freduce_approx<Add, 4>(nowhere, 0..4)", ["V004"]),
        ("let x = len(nowhere)", ["V004"]),
        ("nowhere[0] = 1", ["V004"]),
        ("let x = atomic_add(nowhere[0], 1)", ["V004"]),
        ("data[0] = data[1] + 1", []),
        ("data[0] = f32(1.0)", ["V013"]),
        ("let x = 1\nx := f32(1.0)", ["V036"]),
        ("ints[0] = 1", ["V036"]),
        ("if 1i { }", ["V022"]),
        ("if true { }", []),
        ("for k in 0i..f32(1.0) { }", ["V015", "V015"]),
        ("out[0] = local.3 + workgroup.200", ["V007", "V007"]),
        ("let x = cast<Bytes>(u64(1))", ["V023"]),
        ("let x = cast<Bytes>(a[0])", ["V023"]),
        ("let x = cast<Bytes>(data[0] + 0)", ["V023"]),
        ("let x = data[0]\nout[0] = cast<Bytes>(x)", ["V023"]),
        ("let x = cast<Bytes>(cast<Bytes>(a[0]))", ["V023"]),
        ("data[0] = cast<Bytes>(cast<Bytes>(data[1]))", []),
        ("out[0] = cast<Bytes>(data[0]) + 1", []),
        ("reals[0] = cast<Bytes>(data[0])", ["V036"]),
        ("let x = call primitive.math.add(1i, f32(1.0))", ["V028", "V028"]),
        ("let x = call primitive.math.add()", ["V027"]),
        ("let `3x` = 1", ["V032"]),
        (f"let {'x' * 128} = 1", []),
        (f"let {'x' * 129} = 1", ["V032"]),
        ("for __k in 0..4 { }", ["V032"]),
    ],
)
def test_types_and_names(body: str, expected: list[str]) -> None:
    assert codes(body) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("out", []),
        ("hits", []),
        ("tile", ["V025"]),
        ("a", ["V009"]),
        ("ints", ["V014"]),
        ("data", ["V013"]),
        ("nowhere", ["V004"]),
    ],
)
@pytest.mark.parametrize("op", AtomicOp)
def test_an_atomic_breaks_at_most_one_buffer_rule(target: str, expected: list[str], op: AtomicOp) -> None:
    extra = (LitU32(0),) if op is AtomicOp.CompareExchange else ()
    program = parse("")
    node = Let("x", e.Atomic(op, target, LitU32(0), LitU32(1), *extra))
    found = validate(Program(program.buffers, program.workgroup_size, [node]))
    assert [d.code for d in found] == expected


def test_the_first_obstacle_of_an_atomic_wins() -> None:
    for access, code in [(BufferAccess.ReadOnly, "V009"), (BufferAccess.Uniform, "V009")]:
        for element in (DataType.Bytes, DataType.I32):
            buffer = BufferDecl("b", 0, access, element)
            node = Let("x", e.Atomic(AtomicOp.Add, "b", LitU32(0), LitU32(1)))
            assert [d.code for d in validate(Program([buffer], (1, 1, 1), [node]))] == [code]


@pytest.mark.parametrize("op", BinaryOp)
def test_binary_operations_follow_the_type_rules(op: BinaryOp) -> None:
    for left, left_text in LITERALS.items():
        for right, right_text in LITERALS.items():
            node = Let("x", e.BinOp(op, value(left_text), value(right_text)))
            found = [d.code for d in validate(Program([], (1, 1, 1), [node]))]
            assert found == ([] if binary_type(op, left, right) else ["V021"])


def value(text: str) -> e.Expr:
    let = parse(f"let x = {text}").entry[0]
    assert isinstance(let, Let)
    return let.value


@pytest.mark.parametrize("op", UnaryOp)
def test_unary_operations_follow_the_type_rules(op: UnaryOp) -> None:
    for operand, text in LITERALS.items():
        node = Let("x", e.UnOp(op, value(text)))
        found = [d.code for d in validate(Program([], (1, 1, 1), [node]))]
        assert found == ([] if unary_type(op, operand) else ["V026"])


@pytest.mark.parametrize("source", LITERALS)
def test_casts_follow_the_table(source: DataType) -> None:
    for target in DataType:
        found = validate(Program([], (1, 1, 1), [Let("x", Cast(target, value(LITERALS[source])))]))
        refusal = "V023" if target is DataType.Bytes else "V012"
        assert [d.code for d in found] == ([] if (source, target) in CAST_TABLE else [refusal])
        assert all("Convert" in d.fix for d in found if d.code == "V012")


@pytest.mark.parametrize("op", SIGNED_OPS)
def test_a_signed_operand_is_told_its_library_op(op: BinaryOp) -> None:
    for left, right in [("1i", "1i"), ("1i", "1"), ("1", "1i")]:
        (found,) = validate(Program([], (1, 1, 1), [Let("x", e.BinOp(op, value(left), value(right)))]))
        assert SIGNED_OPS[op] in found.fix
    assert op not in SIGN_AGNOSTIC_OPS


def test_the_library_ops_named_for_signed_operands_exist() -> None:
    for op, library in SIGNED_OPS.items():
        right = "1" if op in (BinaryOp.Shl, BinaryOp.Shr) else "1i"
        assert codes(f"let x = call {library}(1i, {right})") == []


@pytest.mark.parametrize(
    "body",
    [
        "out[0] = (missing + 1) * 2 ^ popcount(missing)",
        "let x = missing\nout[x] = x\nreals[x] = x\nif x { }\nfor k in 0..x { }\nx := f32(1.0)\nlet y = x.0",
        "let x = select(missing, missing, 1)\nlet y = fma(x, f32(1.0), x)\nlet z = convert<I32, Floor>(y)",
        "let x = call primitive.math.add(missing, 1)\nout[0] = x",
        "let x = cast<I32>(cast<U64>(missing))",
        "out[missing] = make<Vec2U32>(missing, missing).1",
    ],
)
def test_one_mistake_makes_one_error(body: str) -> None:
    assert codes(body) == ["V006"]


def test_a_wrong_operation_hides_nothing_and_causes_nothing() -> None:
    assert codes("let x = 1i / 2i\nout[x] = x + 1\nif x { }") == ["V021"]
    assert codes("let x = call acme.none(1i / 2i)\nout[x] = x") == ["V021", "V016"]
    assert codes("let x = call primitive.math.add(1)\nout[x] = x") == ["V027"]


def test_duplicate_declarations_do_not_cascade() -> None:
    buffers = [BufferDecl.read("b", 0, DataType.F32), BufferDecl.read_write("b", 1, DataType.U32)]
    entry = [Store("b", LitU32(0), LitU32(1)), Let("x", e.Load("b", LitU32(0)) + 1)]
    assert [d.code for d in validate(Program(buffers, (1, 1, 1), entry))] == ["V001"]


def test_a_shadowed_name_of_another_type_does_not_cascade() -> None:
    assert codes("let x = 1\nlet x = f32(1.0)\nout[0] = x\nlet y = fadd(x, x)") == ["V008"]
    assert codes("let x = 1\nblock { let x = 1i }\nout[0] = x") == ["V008"]


FIVE = """\
let x = missing + 1
out[1i] = 7
if local.x {
  barrier
}
for k in 0..4 { k := 1 }
a[0] = 1
"""


def test_five_separate_mistakes_make_these_five_errors() -> None:
    assert places(FIVE) == [
        ("V006", "entry[0].value.left"),
        ("V026", "entry[1].index"),
        ("V011", "entry[3].body[0]"),
        ("V005", "entry[4]"),
        ("V010", "entry[2].then[0]"),
    ]


def test_errors_of_all_stages_come_together() -> None:
    buffers = [BufferDecl.read("b", 0, DataType.U32), BufferDecl.read_write("c", 0, DataType.U32)]
    entry = [Store("b", LitU32(0), e.call("acme.none", 1))]
    assert [d.code for d in validate(Program(buffers, (0, 1, 1), entry))] == ["V003", "V002", "V016", "V005"]


def test_check_raises_everything_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        check(parse(FIVE))
    assert len(caught.value.diagnostics) == 5
    assert all(f"{d.code}: " in str(caught.value) for d in caught.value.diagnostics)
    check(parse("out[0] = 1"))


def test_paths_reach_every_kind_of_operand() -> None:
    body = """\
if 1 { } else { for k in m1..m2 { out[m3] = select(m4, m5, call primitive.math.add(1, m6)) } }
let v = make<Vec2U32>(1, -m7)
let w = atomic_compare_exchange(out[m8], m9, (u64(1) + m10).1)
let z = cast<I32>(fma(m11, m12, a[m13]))
"""
    assert [path for _, path in places(body)] == [
        "entry[0].orelse[0].start",
        "entry[0].orelse[0].stop",
        "entry[0].orelse[0].body[0].index",
        "entry[0].orelse[0].body[0].value.condition",
        "entry[0].orelse[0].body[0].value.if_true",
        "entry[0].orelse[0].body[0].value.if_false.args[1]",
        "entry[1].value.lanes[1].operand",
        "entry[2].value.index",
        "entry[2].value.value",
        "entry[2].value.expected.value.right",
        "entry[3].value.value.a",
        "entry[3].value.value.b",
        "entry[3].value.value.c.index",
    ]


def test_the_location_is_that_of_the_nearest_statement() -> None:
    here, outer = SourceLocation("k.py", 7, 1), SourceLocation("k.py", 5, 1)
    inner = Store("out", LitU32(0), Var("x"))
    entry = [Loop("k", LitU32(0), LitU32(4), (inner, inner))]
    buffers = [BufferDecl.read_write("out", 0, DataType.U32)]
    program = Program(buffers, (1, 1, 1), entry, locations={"entry[0]": outer, "entry[0].body[1]": here})
    assert [d.location for d in validate(program)] == [outer, here]
    assert [d.location for d in validate(Program(buffers, (1, 1, 1), entry))] == [None, None]


def test_a_close_name_is_suggested() -> None:
    messages = [d.message for d in validate(parse("let total = 1\nout[0] = totl + ut[0]"))]
    assert "Did you mean total?" in messages[0]
    assert "Did you mean out?" in messages[1]


def test_reserved_names_are_for_inlined_programs() -> None:
    program = parse("let __call1_x = 1")
    assert [d.code for d in validate(program)] == ["V032"]
    assert validate(program, allow_reserved=True) == []


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("__k", "k"),
        ("__5", "value_5"),
        ("__", "value"),
        ("____", "value"),
        ("__for", "value_for"),
        ("__a__", "a__"),
    ],
)
def test_the_name_that_is_suggested_for_a_reserved_one_may_be_declared(name: str, better: str) -> None:
    (found,) = validate(Program([], (1,), [Let(name, LitU32(1))]))
    assert found.fix == f"rename it, for example to {better}."
    assert better.isidentifier()
    assert not validate(Program([], (1,), [Let(better, LitU32(1))]))
