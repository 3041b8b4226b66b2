"""Ops enter registries under permanent ids."""

from __future__ import annotations

import pytest

from tests.compose.sample_ops import REGISTRY, op
from vyre.compose import Op, default_registry
from vyre.errors import OpError
from vyre.ir import DataType, LitU32, OpSignature, Var


def test_lookup_by_id() -> None:
    assert REGISTRY["t.xor"].signature == OpSignature((DataType.U32, DataType.U32), DataType.U32)
    assert "t.xor" in REGISTRY
    assert REGISTRY.get("t.nothing") is None
    with pytest.raises(OpError, match=r"Fix: register an Op with id t\.nothing before lowering\."):
        REGISTRY["t.nothing"]


def test_the_same_op_may_be_registered_twice_and_a_different_one_may_not() -> None:
    assert len(REGISTRY.extend(list(REGISTRY))) == len(REGISTRY)
    with pytest.raises(OpError, match=r"t\.xor@2"):
        REGISTRY.extend([op("t.xor", "x y", Var("x"))])


def test_extending_leaves_the_smaller_registry_alone() -> None:
    larger = REGISTRY.extend([op("t.more", "", LitU32(1))])
    assert "t.more" in larger
    assert "t.more" not in REGISTRY


@pytest.mark.parametrize(
    "op_id", ["xor", "T.xor", "t..xor", "t.xor@1", "t.xor@0", "t.xor@", "", "t." + "x" * 300]
)
def test_malformed_ids_are_refused(op_id: str) -> None:
    with pytest.raises(OpError, match="malformed"):
        Op(op_id, (), DataType.U32, LitU32(1))


def test_versions() -> None:
    assert Op("t.xor", (), DataType.U32, LitU32(1)).version == 1
    assert Op("t.xor@12", (), DataType.U32, LitU32(1)).version == 12


def test_the_default_registry_holds_the_standard_library() -> None:
    assert "primitive.bitwise.xor" in default_registry()
    assert default_registry() is default_registry()
