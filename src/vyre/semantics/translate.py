"""Expressions and ops as SMT-LIB text: `evaluate` over nested solver terms, with names in two ways.

    Translation(types)     every distinct expression is one definition, in the spelling `DIRECT`
    definitions(op)        every `Let` is one definition under its own name, in the spelling `CALLED`

A value is one bit-vector, lane 0 in its low bits. Of a type narrower than a word it is a word all the same,
and free variables are assumed to be values of their types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.semantics.evaluate import Evaluation, run
from vyre.semantics.spellings import CALLED, DIRECT
from vyre.semantics.terms import SORT, SmtDomain, Word, lanes, whole
from vyre.semantics.words import mask_of, word_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.expr import Expr
    from vyre.ir.op import Op
    from vyre.ir.types import DataType

_ALL = 0xFFFF_FFFF


class Translation:
    """Collects definitions in `lines`; `types` are the free variables."""

    def __init__(self, types: Mapping[str, DataType]) -> None:
        self.lines: list[str] = []
        self._domain = SmtDomain(nested=True, decimal=True)
        self._evaluation = Evaluation(self._domain, spelling=DIRECT, keep=self._keep)
        for name, of in types.items():
            self.lines.append(f"(declare-const {name} {sort(of)})")
            if mask_of(of) != _ALL:
                self.lines.append(f"(assert (bvule {name} {self._domain.const(mask_of(of)).name}))")
            self._evaluation.declare(name, of, lanes(name, word_count(of)))

    def _keep(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        name = f"t{len(self._evaluation)}"
        self.lines.append(f"(define-fun {name} () {_sort(len(words))} {whole(words)})")
        return lanes(name, len(words))

    def type(self, root: Expr) -> DataType:
        return self._evaluation.type(root)

    def term(self, root: Expr) -> str:
        """The bit-vector that stands for an expression."""
        return whole(self._evaluation.words(root))

    def condition(self, root: Expr) -> str:
        """The formula that a condition holds."""
        return self._domain.truth(Word(self.term(root)))


def sort(of: DataType) -> str:
    """The sort of the bit-vector that a value of the type is."""
    return _sort(word_count(of))


def _sort(words: int) -> str:
    return f"(_ BitVec {32 * words})"


def definitions(op: Op, *, cuts: Mapping[str, str] | None = None, result: str = "result") -> str:
    """Definitions of every step, named as in the op, and of its result. Parameters stay free.

    `cuts` replaces the definition of named steps by other terms, for proofs that go through a lemma; the
    record of such a proof names the lemma. What the text calls is in `spellings.PRELUDE`.
    """
    lines: list[str] = []

    def bind(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
        (word,) = words
        text = (cuts or {}).get(name) or word.name
        lines.append(f"(define-fun {name} () {SORT} {text})")
        return (Word(name),)

    arguments = [(Word(p.name),) for p in op.params]
    (value,) = run(op, SmtDomain(nested=True), arguments, spelling=CALLED, bind=bind)
    lines.append(f"(define-fun {result} () {SORT} {value.name})")
    return "\n".join(lines) + "\n"
