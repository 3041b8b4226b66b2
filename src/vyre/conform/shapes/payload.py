"""The payload of a case: operations of every family on a word, and what the reference says of them.

    body(spec)                    statements that replace the word `s`, given the number `c` of its class
    anchored(spec, words)         the words afterwards, rows of one a class, by the reference interpreter

The word takes in every result by `s * odd + result`, so that a result that differs changes it for good. The
invocations of a large case share a few classes, so the reference is asked about those alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.shapes import float_payload
from vyre.conform.shapes.families import LITERALS
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import (
    BinOp,
    Cast,
    Expr,
    InvocationId,
    LitI32,
    LitU32,
    Select,
    UnOp,
    Var,
    lift,
)
from vyre.ir.expr import MakeVec as Make
from vyre.ir.node import Assign, Let, Store
from vyre.ir.operators import (
    INTEGER_BINARY_OPS,
    INTEGER_COMPARE_OPS,
    INTEGER_UNARY_OPS,
    UnaryOp,
)
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from vyre.ir.node import Node

    Words = NDArray[np.uint32]

T = DataType
S, C = Var("s"), Var("c")
ODD = 0x9E37_79B1
CLASSES = 61


@dataclass(frozen=True, slots=True)
class Payload:
    """Which family, which literal, and how long the chain of float operations is."""

    family: str
    literal: str
    chain: int


def mixed(value: Expr) -> Node:
    """`s` with a word taken in."""
    return Assign("s", S * ODD + value)


@lru_cache(maxsize=8)
def body(spec: Payload) -> tuple[Node, ...]:
    literal = LITERALS[spec.literal]
    found = [*_corners(), *(mixed(value) for value in _integers(literal))]
    if spec.family == "lanes":
        found += [mixed(value) for value in _lanes(literal)]
    if spec.chain or spec.family in float_payload.MAKERS:
        found += float_payload.bands()
        found += [mixed(value) for value in float_payload.values(spec.family, literal, spec.chain)]
    if spec.chain:
        found += [*float_payload.chain(spec.chain), mixed(float_payload.CHAINED)]
    return tuple(found)


def _corners() -> list[Node]:
    """What makes operands of words: for some classes 0, all ones, 2^31, and numbers about those of bits."""
    left, right = C % 7, C % 5
    ones, top = LitU32(0xFFFF_FFFF), LitU32(1 << 31)
    corner = Select(left.eq(5), ones, Select(left.eq(6), top, LitU32(0)))
    other = Select(right.eq(2), ones, Select(right.eq(3), top, LitU32(0)))
    return [
        Let("la", Select(left < 4, ones, LitU32(0))),
        Let("lo", corner),
        Let("ra", Select(right.eq(0), ones, Select(right.eq(4), LitU32(63), LitU32(0)))),
        Let("ro", other),
    ]


LEFT = (S & Var("la")) ^ Var("lo")


def _integers(literal: int) -> Iterator[Expr]:
    """Every integer operation, once on two words and once on a word and the literal."""
    for position, op in enumerate(INTEGER_BINARY_OPS):
        left, right = LEFT, ((S >> 7) * (2 * position + 3) & Var("ra")) ^ Var("ro")
        if op in INTEGER_COMPARE_OPS:
            left, right = S & 0xC000_0001, C * 0x4000_0001 & 0xC000_0001
        yield BinOp(op, left, right)
        yield BinOp(op, S, LitU32(literal)) if position % 2 else BinOp(op, LitU32(literal), LEFT)
    for op in INTEGER_UNARY_OPS:
        yield UnOp(op, S & 3 if op is UnaryOp.LogicalNot else LEFT)
    signed = Cast(T.I32, S) + LitI32(_signed(literal))
    yield Select(S & 4, Cast(T.U32, signed), S >> 3)
    yield Cast(T.U32, Select(Cast(T.Bool, S & 1), lift(True), Cast(T.Bool, C & 2)))


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _lanes(literal: int) -> Iterator[Expr]:
    word = LitU32(literal)
    pair, four = Make(T.U64, (S, word)), Make(T.Vec4U32, (S, C, word, S >> 9))
    yield pair.lane(0)
    yield pair.lane(1)
    yield Cast(T.Vec2U32, pair).lane(0) ^ Cast(T.U64, S).lane(1)
    for lane in range(4):
        yield four.lane(lane)
    both = Select(S & 1, Make(T.U128, (S, C, S, word)), Cast(T.U128, pair))
    for lane in range(4):
        yield both.lane(lane)


def anchored(spec: Payload, words: Words) -> Words:
    """What the reference makes of these words, rows of one for each class; it is asked once about each."""
    known = _known(spec)
    keys = np.arange(CLASSES, dtype=np.uint64) << np.uint64(32) | words
    every: list[int] = np.unique(keys).tolist()
    new = np.array([key for key in every if key not in known], np.uint64)
    if len(new):
        known.update(zip(new.tolist(), _reference(spec, new), strict=True))
    return np.array([known[key] for key in keys.reshape(-1).tolist()], np.uint32).reshape(words.shape)


@lru_cache(maxsize=8)
def _known(spec: Payload) -> dict[int, int]:
    """By class and word; the memories of a case differ in few of them."""
    return {}


@lru_cache(maxsize=8)
def _program(spec: Payload) -> Program:
    given, classes = BufferDecl.read("given", 0, T.U32), BufferDecl.read("classes", 1, T.U32)
    out = BufferDecl.read_write("out", 2, T.U32)
    place = InvocationId(0)
    entry = (Let("c", classes[place]), Let("s", given[place]), *body(spec), Store("out", place, S))
    return Program((given, classes, out), (1, 1, 1), entry)


def _reference(spec: Payload, keys: NDArray[np.uint64]) -> list[int]:
    inputs = {
        "given": keys.astype(np.uint32).tobytes(),
        "classes": (keys >> np.uint64(32)).astype(np.uint32).tobytes(),
        "out": bytes(4 * len(keys)),
    }
    found = run(_program(spec), inputs, (len(keys), 1, 1), check=False)
    return np.frombuffer(found.buffers["out"], np.uint32).tolist()
