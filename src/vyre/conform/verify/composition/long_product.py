"""The product of four words by four, proved for all inputs.

A cell adds the product of two words, the sum so far in its column and the carry from its right, and leaves a
word and a carry. That is asked of each cell, with any function for the product that is as small as one is.
What the cells make together is asked of integers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.conform.verify.composition.link import NUMBERS, WORD, Link, integers, not_, query
from vyre.errors import OpError
from vyre.ir.expr import MakeVec, Var
from vyre.ir.node import Let
from vyre.ir.types import DataType
from vyre.semantics.translate import Translation

if TYPE_CHECKING:
    from vyre.ir.op import Op

U128_MUL = "wide.u128.mul"
_CELLS = [(i, j) for i in range(4) for j in range(4 - i)]
_PLAIN = re.compile(r"\(bvmul (\S+) (\S+)\)")
_FULL = re.compile(r"\(bvmul \(\(_ zero_extend 32\) (\S+)\) \(\(_ zero_extend 32\) (\S+)\)\)")
_ANY = f"(declare-fun product ({WORD} {WORD}) (_ BitVec 64))"
_LARGEST = f"(_ bv{((1 << 32) - 1) ** 2} 64)"


def links(op: Op) -> list[Link]:
    """The steps from the body of `wide.u128.mul` to the product."""
    steps = {node.name: node.value for node in op.body if isinstance(node, Let)}
    if op.result != MakeVec(DataType.U128, tuple(Var(_total(k, 0)) for k in range(4))):
        raise OpError(
            f"{op.id} does not end with the last sum of each column.", fix="prove this op otherwise."
        )
    types = {p.name: p.type for p in op.params} | dict.fromkeys(steps, DataType.U32)
    translation = Translation(types)
    known = [f"(assert (= {name} {translation.term(value)}))" for name, value in steps.items()]
    text = _FULL.sub(r"(product \1 \2)", "\n".join([*translation.lines, *known]))
    text = _PLAIN.sub(r"((_ extract 31 0) (product \1 \2))", text)
    words = [f"(declare-const {name} {WORD})" for name in "xy"]
    full = "(bvmul ((_ zero_extend 32) x) ((_ zero_extend 32) y))"
    limits = ["(<= 0 x)", "(<= 0 y)", "(<= x 4294967295)", "(<= y 4294967295)"]
    most = integers("x y", limits, "(<= (* x y) (* 4294967295 4294967295))")
    return [
        Link(
            "a product of words is the low half of the full one",
            query([*words, not_(f"(= (bvmul x y) ((_ extract 31 0) {full}))")]),
        ),
        Link("no product is above that of the largest words", most, NUMBERS),
        *(Link(f"the cell {i}, {j} adds", _cell(text, i, j)) for i, j in _CELLS),
        Link("the cells make the sum of the products", _summed(), NUMBERS),
        Link("the sum of the products is the product", _identity(), NUMBERS),
    ]


def _total(i: int, j: int) -> str:
    """The step in which a cell leaves its word."""
    added = (i > 0) + (j > 0)
    return f"sum{i}{j}{added - 1}" if added else f"product{i}{j}"


def _cell(text: str, i: int, j: int) -> str:
    a, b = (f"((_ extract {32 * k + 31} {32 * k}) {name})" for name, k in (("a", i), ("b", j)))
    product = f"(product {a} {b})"
    more = [name for name, there in ((_total(i - 1, j + 1), i), (f"carry{i}{j - 1}", j)) if there]
    whole = " ".join([product, *(f"((_ zero_extend 32) {name})" for name in more)])
    whole = f"(bvadd {whole})" if more else whole
    claim = f"(= {whole} (concat carry{i}{j} {_total(i, j)}))"
    if i + j == 3:
        claim = f"(= ((_ extract 31 0) {whole}) {_total(i, j)})"
    lines = [_ANY, text, f"(assert (bvule {product} {_LARGEST}))", not_(claim)]
    return query(lines).replace("QF_BV", "QF_UFBV")


_BASE = 1 << 32


def _summed() -> str:
    """A cell of the last column carries as the others do; there the carry is what 128 bits do not hold."""
    names, given = list[str](), list[str]()
    for i, j in _CELLS:
        names += [f"p{i}{j}", f"t{i}{j}", f"c{i}{j}"]
        above, right = f"t{i - 1}{j + 1}" if i else "0", f"c{i}{j - 1}" if j else "0"
        given.append(f"(= (+ p{i}{j} {above} {right}) (+ (* {_BASE} c{i}{j}) t{i}{j}))")
    sums = " ".join(f"(* {_BASE ** (i + j)} p{i}{j})" for i, j in _CELLS)
    words = " ".join(f"(* {_BASE**k} t{k}0)" for k in range(4))
    lost = " ".join(f"c{i}{3 - i}" for i in range(4))
    return integers(" ".join(names), given, f"(= (+ {sums}) (+ {words} (* {_BASE**4} (+ {lost}))))")


def _identity() -> str:
    """Over integers, with what 128 bits do not hold as the last term."""
    a, b = (f"(+ {' '.join(f'(* {_BASE**k} {name}{k})' for k in range(4))})" for name in "ab")
    low = " ".join(f"(* {_BASE ** (i + j)} a{i} b{j})" for i, j in _CELLS)
    high = " ".join(f"(* {_BASE ** (i + j - 4)} a{i} b{j})" for i in range(4) for j in range(4) if i + j > 3)
    names = " ".join(f"{name}{k}" for name in "ab" for k in range(4))
    return integers(names, [], f"(= (* {a} {b}) (+ {low} (* {_BASE**4} (+ {high}))))")
