"""What holds without being declared, what does not exist, and what the laws do not tell apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vyre.conform.algebra.collisions import collisions, separate
from vyre.conform.algebra.discover import discover, missing_elements
from vyre.conform.algebra.listing import shown_law
from vyre.conform.registry import floats, lookup, primitives, spec, specs
from vyre.conform.spec.compositions import is_composed
from vyre.conform.spec.law import label
from vyre.conform.suite.plan import definition_program
from vyre.semantics.arrays import NUMPY
from vyre.semantics.proof_cache import ProofCache
from vyre.wire import meaning_digest

CACHE = ProofCache(None)


def test_an_undeclared_law_is_found() -> None:
    bare = replace(spec("primitive.bitwise.and"), laws=(), properties=())
    found = {shown_law(r) for r in discover([bare], lookup, CACHE)}
    assert {"Commutative", "Associative", "Idempotent", "Identity(0xFFFFFFFF)", "Absorbing(0)"} <= found
    assert {"DistributiveOver(bitwise.or)", "LatticeAbsorption(bitwise.or)"} <= found
    assert not {"SelfInverse(0)", "Identity(0)", "LeftIdentity(0xFFFFFFFF)"} & found


def test_what_is_declared_is_not_discovered() -> None:
    known = spec("primitive.bitwise.and")
    found = {shown_law(r) for r in discover([known], lookup, CACHE)}
    assert not found & {label(law) for law in (*known.laws, *known.properties)}


def test_the_laws_of_a_unary_op_are_found() -> None:
    bare = replace(spec("primitive.bitwise.not"), laws=(), properties=())
    found = {shown_law(r) for r in discover([bare], lookup, CACHE)}
    assert {"Involution", "Complement(identity, 0xFFFFFFFF)", "DeMorgan(bitwise.and, bitwise.or)"} <= found


def test_no_element_exists_where_none_is_declared() -> None:
    ops = [spec("primitive.math.sub"), spec("primitive.math.add"), spec("primitive.compare.eq")]
    missing = {(m.op, m.law): str(m.evidence) for m in missing_elements(ops, lookup, CACHE)}
    assert missing["primitive.math.sub", "LeftIdentity"] == "proved"
    assert missing["primitive.compare.eq", "RightAbsorbing"] == "proved"
    assert ("primitive.math.sub", "RightIdentity") not in missing
    assert ("primitive.math.add", "LeftIdentity") not in missing
    assert set(missing.values()) == {"proved"}


def test_the_known_collisions_are_listed_and_settled() -> None:
    found = {(c.first, c.second): c for c in collisions(primitives())}
    equal = {
        frozenset(p.removeprefix("primitive.") for p in pair)
        for pair, c in found.items()
        if c.relation == "equal"
    }
    assert frozenset({"compare.lt", "compare.gt"}) in equal
    assert frozenset({"compare.le", "compare.ge"}) in equal
    assert frozenset({"math.sub", "math.mod"}) in equal
    assert frozenset({"math.div", "bitwise.shl"}) in equal
    assert found["primitive.math.add", "primitive.bitwise.xor"].relation == "contained"
    assert found["primitive.math.add", "primitive.bitwise.or"].relation == "contained"
    assert all(c.rule != "none" for c in found.values())


@pytest.mark.parametrize("of", ["F32", "F16", "BF16", "F64", "I32"])
def test_float_operations_of_one_format_are_told_apart(of: str) -> None:
    found = collisions([s for s in floats() if s.signature.inputs[0].value == of])
    assert found
    alike = {(c.first, c.second) for c in found if c.rule == "one function"}
    to_u32 = f"float.convert.{of.lower()}.u32"
    assert alike == ({(f"{to_u32}.truncate", f"{to_u32}.floor")} if of != "I32" else set())
    assert all(c.rule != "none" for c in found)


def test_collisions_cover_every_spec() -> None:
    """Every family, and pairs across families; each is settled."""
    found = collisions(specs())
    assert [c for c in found if c.rule == "none"] == []
    met = {s for c in found for s in (c.first, c.second)}
    operands = [s.signature.inputs for s in specs()]
    lonely = {s.id for s in specs() if operands.count(s.signature.inputs) == 1}
    unmet = {s.id for s in specs()} - met - lonely
    families = {
        "primitive",
        "atomic",
        "value",
        "cast",
        "float",
        "memory",
        "integer",
        "wide",
        "bytes",
        "intrinsic",
    }
    assert {i.split(".")[0] for i in met} >= families
    assert all(map(is_composed, unmet)), "of these, the laws alone tell"
    rules = {frozenset({c.first, c.second}): c.rule for c in found}
    assert rules[frozenset({"primitive.math.add", "atomic.add"})] == "result type"
    assert rules[frozenset({"value.lane.u64.0", "cast.u64.u32"})] == "one function"
    assert rules[frozenset({"bytes.dot4_u8", "intrinsic.packed.dot4_u8"})] == "one function"


def test_the_low_word_of_a_cast_is_lane_0() -> None:
    for of in ("u64", "vec2u32", "vec4u32", "u128"):
        lane, cast = spec(f"value.lane.{of}.0"), spec(f"cast.{of}.u32")
        assert meaning_digest(definition_program(lane)) == meaning_digest(definition_program(cast))


def test_an_instruction_and_its_composition_are_one_function() -> None:
    for name in ("dot4_u8", "dot4_i8"):
        one, other = spec(f"bytes.{name}"), spec(f"intrinsic.packed.{name}")
        assert meaning_digest(definition_program(one)) == meaning_digest(definition_program(other))


def test_two_names_of_one_function_agree_on_every_input() -> None:
    words = np.arange(1 << 16, dtype=np.uint32)
    for of in ("f16", "bf16"):
        down, cut = (spec(f"float.convert.{of}.u32.{mode}") for mode in ("floor", "truncate"))
        assert np.array_equal(down.apply(NUMPY, words), cut.apply(NUMPY, words))
        signed = spec(f"float.convert.{of}.i32.floor"), spec(f"float.convert.{of}.i32.truncate")
        assert separate(*signed)[0] == "boundary"


def test_ops_that_nothing_separates_are_named() -> None:
    add = spec("primitive.math.add")
    twin = replace(add, id="acme.math.add")
    assert separate(add, twin)[0] == "none"
    (collision,) = collisions([add, twin])
    assert (collision.relation, collision.rule) == ("equal", "none")


def test_a_boundary_separates_where_no_golden_row_does() -> None:
    first = replace(spec("primitive.math.add"), id="acme.first")
    second = replace(spec("primitive.math.sub"), id="acme.second")
    assert separate(first, second)[0] == "boundary"
