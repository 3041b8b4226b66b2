"""Words as solver terms: a definition run over this domain writes its own SMT-LIB text.

Every distinct step is defined once, in order, so the text is canonical: the same definition gives the
same text, and any change of it another. Every solver reads the same text. A nested domain writes formulas
within formulas instead, for a translation that names them itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SORT = "(_ BitVec 32)"
FLOATS = "(fp."
"""Stands in every text that uses the theory of floats."""


def word(bits: int) -> str:
    """The text of a constant."""
    return f"#x{bits:08x}"


@dataclass(frozen=True, slots=True)
class Word:
    """A defined step, by name; `test` is the Boolean formula whose 0/1 word it is, if it is one.

    `vector` is the bit-vector that it is a lane of, and how many lanes that has.
    """

    name: str
    test: str = ""
    vector: tuple[str, int] | None = None


@dataclass(slots=True)
class SmtDomain:
    """Collects definitions; `lines` are those so far, and `names` what stands for each formula.

    `nested` formulas get no definitions. `decimal` constants are written `(_ bv5 32)`.
    """

    nested: bool = False
    decimal: bool = False
    names: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[str] = field(default_factory=list[str])

    def variable(self, name: str) -> Word:
        if name not in self.names:
            self.names[name] = name
            self.lines.append(f"(declare-const {name} {SORT})")
        return Word(name)

    def define(self, formula: str, sort: str = SORT) -> str:
        """What stands for a formula: its name, or itself where formulas are nested."""
        if self.nested:
            return formula
        name = self.names.get(formula)
        if name is None:
            name = f"t{len(self.lines)}"
            self.names[formula] = name
            self.lines.append(f"(define-fun {name} () {sort} {formula})")
        return name

    def step(self, operator: str, *operands: Word) -> Word:
        """An operator or function of the solver on words."""
        return Word(self.define(f"({operator} {' '.join(w.name for w in operands)})"))

    def flag(self, formula: str) -> Word:
        """A Boolean formula as the word 0 or 1."""
        test = self.define(formula, "Bool")
        one, zero = self.const(1), self.const(0)
        return Word(self.define(f"(ite {test} {one.name} {zero.name})"), test)

    def truth(self, a: Word) -> str:
        """The Boolean formula `a` is not zero."""
        if a.test:
            return a.test
        return self.define(f"(distinct {a.name} {self.const(0).name})", "Bool")

    def const(self, bits: int) -> Word:
        value = bits & 0xFFFF_FFFF
        return Word(f"(_ bv{value} 32)" if self.decimal else word(value))

    def add(self, a: Word, b: Word) -> Word:
        return self.step("bvadd", a, b)

    def sub(self, a: Word, b: Word) -> Word:
        return self.step("bvsub", a, b)

    def mul(self, a: Word, b: Word) -> Word:
        return self.step("bvmul", a, b)

    def udiv(self, a: Word, b: Word) -> Word:
        return self._guarded("bvudiv", a, b)

    def urem(self, a: Word, b: Word) -> Word:
        return self._guarded("bvurem", a, b)

    def _guarded(self, operator: str, a: Word, b: Word) -> Word:
        zero = self.const(0)
        return self.ite(self.ne(b, zero), self.step(operator, a, b), zero)

    def and_(self, a: Word, b: Word) -> Word:
        return self._joined("bvand", "and", a, b)

    def or_(self, a: Word, b: Word) -> Word:
        return self._joined("bvor", "or", a, b)

    def _joined(self, operator: str, connective: str, a: Word, b: Word) -> Word:
        """Of two tests the result is a test too. A nested formula would be written out a second time."""
        if self.nested or not (a.test and b.test):
            return self.step(operator, a, b)
        test = self.define(f"({connective} {a.test} {b.test})", "Bool")
        return Word(self.step(operator, a, b).name, test)

    def xor(self, a: Word, b: Word) -> Word:
        return self.step("bvxor", a, b)

    def not_(self, a: Word) -> Word:
        return self.step("bvnot", a)

    def shl(self, a: Word, b: Word) -> Word:
        return self.step("bvshl", a, self._amount(b))

    def shr(self, a: Word, b: Word) -> Word:
        return self.step("bvlshr", a, self._amount(b))

    def _amount(self, b: Word) -> Word:
        if b.name.startswith("#x"):
            return self.const(int(b.name[2:], 16) & 31)
        return self.and_(b, self.const(31))

    def eq(self, a: Word, b: Word) -> Word:
        return self.flag(f"(= {a.name} {b.name})")

    def ne(self, a: Word, b: Word) -> Word:
        return self.flag(f"(distinct {a.name} {b.name})")

    def ult(self, a: Word, b: Word) -> Word:
        return self.flag(f"(bvult {a.name} {b.name})")

    def ule(self, a: Word, b: Word) -> Word:
        return self.flag(f"(bvule {a.name} {b.name})")

    def ite(self, condition: Word, a: Word, b: Word) -> Word:
        return Word(self.define(f"(ite {self.truth(condition)} {a.name} {b.name})"))

    def query(self, *assertions: str) -> str:
        """The whole problem: all definitions, and these formulas asserted."""
        lines = [*self.lines, *(f"(assert {a})" for a in assertions)]
        logic = "QF_BVFP" if any(FLOATS in line for line in lines) else "QF_BV"
        return "\n".join([f"(set-logic {logic})", *lines]) + "\n"


def lanes(vector: str, count: int) -> tuple[Word, ...]:
    """The words of a bit-vector, lowest first."""
    if count == 1:
        return (Word(vector),)
    of = (vector, count)
    return tuple(Word(f"((_ extract {32 * k + 31} {32 * k}) {vector})", vector=of) for k in range(count))


def whole(words: tuple[Word, ...]) -> str:
    """The bit-vector of these words; the one that they are the lanes of, if they are all of it in order."""
    if len(words) == 1:
        return words[0].name
    of = words[0].vector
    if of is not None and words == lanes(*of):
        return of[0]
    return f"(concat {' '.join(w.name for w in reversed(words))})"
