"""Formulas of `wide.*` that take more than one bit-vector operation, in the solvers' language."""

from __future__ import annotations

_AMOUNT = "((_ zero_extend 32) (bvand {} (_ bv63 32)))"


def rotated_64(amount: str) -> str:
    """`a` rotated left: twice over in 128 bits, shifted, and the high half of it."""
    whole = f"(bvshl (concat a a) ((_ zero_extend 64) {_AMOUNT.format(amount)}))"
    return f"((_ extract 127 64) {whole})"


def swapped_64(word: str) -> str:
    return f"(concat {' '.join(f'((_ extract {8 * k + 7} {8 * k}) {word})' for k in range(8))})"


def bits_of(word: str, width: int) -> dict[str, str]:
    """Counts of bits: a sum over all of them, and the first one that is set from either end."""
    bits = [f"((_ extract {k} {k}) {word})" for k in range(width)]
    ones = f"(bvadd {' '.join(f'((_ zero_extend 31) {bit})' for bit in bits)})"
    return {"popcount": ones, "clz": _zeros(bits[::-1]), "ctz": _zeros(bits)}


def _zeros(bits: list[str]) -> str:
    found = f"(_ bv{len(bits)} 32)"
    for k in range(len(bits) - 1, -1, -1):
        found = f"(ite (= {bits[k]} #b1) (_ bv{k} 32) {found})"
    return found


def _said(formula: str) -> str:
    return f"(ite {formula} (_ bv1 32) (_ bv0 32))"


SIGNED_64 = {
    "shr": f"(bvashr a {_AMOUNT.format('amount')})",
    "lt": _said("(bvslt a b)"),
    "gt": _said("(bvsgt a b)"),
    "le": _said("(bvsle a b)"),
    "ge": _said("(bvsge a b)"),
    "min": "(ite (bvsle a b) a b)",
    "max": "(ite (bvsle a b) b a)",
    "neg": "(bvneg a)",
    "abs": "(ite (bvslt a (_ bv0 64)) (bvneg a) a)",
}
