"""What the registry promises, against the documents, the golden rows' oracle and the solvers."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.conform.generate.cases import cases
from vyre.conform.registry import primitives, replaced, spec, specs
from vyre.conform.spec.composed import definition
from vyre.conform.spec.law import label
from vyre.conform.spec.op import AtomicForm, OpSpec, as_tuple
from vyre.conform.spec.words import fit, to_bits, to_words, word_count
from vyre.errors import OpError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, Load, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.op import Category
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE
from vyre.ops import standard_ops
from vyre.reference import casts, integers, run
from vyre.semantics.arrays import NUMPY
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache
from vyre.semantics.solvers import Answer
from vyre.semantics.terms import SmtDomain

MAX = "0xFFFFFFFF"
DECLARED = {
    "math.add": ["Commutative", "Associative", "Identity(0)"],
    "math.sub": ["SelfInverse(0)"],
    "math.mul": ["Commutative", "Associative", "Identity(1)", "Absorbing(0)", "ZeroProduct(false)"],
    "math.div": [],
    "math.mod": ["SelfInverse(0)"],
    "bitwise.and": [
        *("Commutative", "Associative", f"Identity({MAX})", "Idempotent", "Absorbing(0)"),
        "DistributiveOver(bitwise.or)",
    ],
    "bitwise.or": [
        *("Commutative", "Associative", "Identity(0)", "Idempotent", f"Absorbing({MAX})"),
        "DistributiveOver(bitwise.and)",
    ],
    "bitwise.xor": ["Commutative", "Associative", "Identity(0)", "SelfInverse(0)"],
    "bitwise.shl": [],
    "bitwise.shr": [],
    "compare.eq": ["Commutative", "SelfInverse(1)", "Bounded(0, 1)"],
    "compare.ne": ["Commutative", "SelfInverse(0)", "Bounded(0, 1)"],
    "compare.lt": ["SelfInverse(0)", "Bounded(0, 1)"],
    "compare.gt": ["SelfInverse(0)", "Bounded(0, 1)"],
    "compare.le": ["SelfInverse(1)", "Bounded(0, 1)"],
    "compare.ge": ["SelfInverse(1)", "Bounded(0, 1)"],
    "logical.and": [],
    "logical.or": [],
    "math.mul_hi": [],
    "math.negate": ["Involution"],
    "bitwise.not": ["Involution", "DeMorgan(bitwise.and, bitwise.or)", f"Complement(identity, {MAX})"],
    "logical.not": ["Bounded(0, 1)", "DeMorgan(logical.and, logical.or)"],
    "bitwise.popcount": ["Bounded(0, 32)"],
    "bitwise.clz": ["Bounded(0, 32)"],
    "bitwise.ctz": ["Bounded(0, 32)"],
    "bitwise.reverse_bits": ["Involution"],
}


def test_the_law_sets_are_those_of_the_documents() -> None:
    assert {s.id.removeprefix("primitive."): [*map(label, s.laws)] for s in primitives()} == DECLARED


def test_what_is_registered() -> None:
    ids = [s.id for s in specs()]
    assert len(ids) == len(set(ids))
    assert sum(i.startswith("atomic.") for i in ids) == 8
    pairs = {f"cast.{a.value}.{b.value}".lower() for a, b in CAST_TABLE} - {"cast.bytes.bytes"}
    assert {i for i in ids if i.startswith("cast.")} == pairs
    library = {op.id: op for op in standard_ops()}
    for found in primitives():
        op = library[found.id]
        assert op.signature == found.signature
        assert op.category is Category(found.category)
        assert op.version == found.version == 1


def test_the_absorbing_element_of_or_is_an_erratum() -> None:
    (entry,) = spec("primitive.logical.or").errata
    assert label(entry.law) == "Absorbing(1)"


def test_an_unknown_id_is_an_error() -> None:
    with pytest.raises(OpError, match=r"no spec is registered as 'primitive\.math\.pow'"):
        spec("primitive.math.pow")


def test_a_replaced_spec_hides_the_registered_one() -> None:
    from dataclasses import replace

    other = replace(spec("primitive.math.add"), doc="other")
    look = replaced(other)
    assert look(other.id) is other
    assert look("primitive.math.sub") is spec("primitive.math.sub")


def sample(found: OpSpec, count: int = 60) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    for kind in ("boundary", "equivalence", "adversarial", "random"):
        stream = cases(kind, found, 3)
        length = stream.length or 10**9
        step = max(1, min(length, 10**6) // count)
        rows += [stream.case(k) for k in range(0, min(length, count * step), step)]
    return rows


BINARY = {f"primitive.{k}" for k in DECLARED}


def oracle(found: OpSpec, words: tuple[int, ...]) -> int:
    """The reference interpreter's own functions, which share nothing with the definitions."""
    if found.id.startswith("cast."):
        source, target = found.signature.inputs[0], found.signature.output
        return casts.cast(source, target, to_bits(words))
    name = {
        "and": "BitAnd",
        "or": "BitOr",
        "xor": "BitXor",
        "not": "BitNot",
        "reverse_bits": "ReverseBits",
        "mul_hi": "MulHi",
    }
    family, _, last = found.id.removeprefix("primitive.").partition(".")
    op = last.capitalize() if family == "logical" else name.get(last, last.capitalize())
    if found.arity == 2:
        return integers.binary(BinaryOp(op), *words)
    return integers.unary(UnaryOp("LogicalNot" if op == "Not" else op), *words)


FLOAT_CASTS = {s.id for s in specs() if s.id.startswith("cast.") and ".f" in s.id}
CHECKED = [s for s in specs() if s.id.startswith(("primitive.", "cast."))]


@pytest.mark.parametrize("found", CHECKED, ids=lambda s: s.id)
def test_the_definition_agrees_with_the_reference(found: OpSpec) -> None:
    for words in sample(found):
        (result,) = found.apply(CONCRETE, *words)
        assert to_bits(result) == oracle(found, words), words


@pytest.mark.parametrize("found", specs(), ids=lambda s: s.id)
def test_integers_and_arrays_agree(found: OpSpec) -> None:
    rows = sample(found, 40)
    columns = [np.asarray(c, np.uint32) for c in zip(*rows, strict=True)]
    flat = [w for result in found.apply(NUMPY, *columns) for w in result]
    arrays = np.stack([np.broadcast_to(w, len(rows)) for w in flat], axis=1).tolist()
    wanted = [[w for result in found.apply(CONCRETE, *row) for w in result] for row in rows]
    assert arrays == wanted


@pytest.mark.parametrize(
    "found",
    [s for s in specs() if s.id.startswith(("primitive.", "atomic.", "memory.")) or s.id in FLOAT_CASTS],
    ids=lambda s: s.id,
)
def test_the_definition_as_a_program_agrees(found: OpSpec) -> None:
    rows = sample(found, 8)
    operands = [Load(f"x{k}", Var("i")) for k in range(found.words)]
    lets, results = definition(found, operands)
    inputs = [BufferDecl.read(f"x{k}", k, DataType.U32) for k in range(found.words)]
    outputs = [BufferDecl.read_write(f"y{k}", found.words + k, DataType.U32) for k in range(len(results))]
    stores = [Store(b.name, Var("i"), r) for b, r in zip(outputs, results, strict=True)]
    body = If(Var("i") < outputs[0].length, [*lets, *stores])
    program = Program([*inputs, *outputs], (64,), [Let("i", InvocationId(0)), body])
    data = {f"x{k}": np.asarray(column, "<u4").tobytes() for k, column in enumerate(zip(*rows, strict=True))}
    data |= {b.name: bytes(4 * len(rows)) for b in outputs}
    got = run(program, data, (-(-len(rows) // 64), 1, 1)).buffers
    columns = [np.frombuffer(got[b.name], "<u4").tolist() for b in outputs]
    wanted = [[w for result in found.apply(CONCRETE, *row) for w in result] for row in rows]
    assert [list(row) for row in zip(*columns, strict=True)] == wanted


@pytest.mark.parametrize("found", specs(), ids=lambda s: s.id)
def test_classes_cover_every_input_and_samples_are_members(found: OpSpec) -> None:
    """Both for all inputs, by a solver."""
    cache = ProofCache(None)
    d = SmtDomain()
    words = [fit(d, d.variable(f"x{k}"), m) for k, m in enumerate(found.masks)]
    outside = [f"(not {d.truth(c.contains(d, *words))})" for c in found.classes]
    stray = [f"(not {d.truth(c.contains(d, *as_tuple(c.sample(d, *words))))})" for c in found.classes]
    fits = [
        d.truth(d.ult(d.const(m), w))
        for c in found.classes
        for w, m in zip(as_tuple(c.sample(d, *words)), found.masks, strict=True)
    ]
    uncovered = f"(and {' '.join(outside)} true)"
    assert cache.solve(d.query(f"(or {uncovered} {' '.join([*stray, *fits])})")).answer is Answer.Unsat


@pytest.mark.parametrize("found", [s for s in specs() if s.alternates], ids=lambda s: s.id)
def test_alternates_give_the_same_bits(found: OpSpec) -> None:
    rows = sample(found, 30)
    wanted = [found.apply(CONCRETE, *row)[0][0] for row in rows]
    data = {f"x{k}": np.asarray(column, "<u4").tobytes() for k, column in enumerate(zip(*rows, strict=True))}
    data["out"] = bytes(4 * len(rows))
    for other in found.alternates:
        operands = tuple(Load(f"x{k}", Var("i")) for k in range(found.arity))
        buffers = [BufferDecl.read(f"x{k}", k, DataType.U32) for k in range(found.arity)]
        buffers.append(BufferDecl.read_write("out", found.arity, DataType.U32))
        body = If(Var("i") < buffers[-1].length, [Store("out", Var("i"), other.build(operands))])
        program = Program(buffers, (64,), [Let("i", InvocationId(0)), body])
        got = run(program, data, (-(-len(rows) // 64), 1, 1)).buffers["out"]
        assert np.frombuffer(got, "<u4").tolist() == wanted, other.name


def test_wide_values_keep_lane_order() -> None:
    made = spec("value.make_vec.u64")
    assert made.evaluate(0x1111, 0x2222) == (0x2222_0000_1111,)
    assert spec("value.lane.u64.1").evaluate(0x2222_0000_1111) == (0x2222,)
    assert to_words(DataType.F64, 1 << 63) == (0, 1 << 31)
    assert word_count(DataType.F16) == 1


def test_every_atomic_has_two_results() -> None:
    for found in specs():
        assert (len(found.outputs) == 2) == isinstance(found.form, AtomicForm)
