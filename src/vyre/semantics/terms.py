"""Words as solver terms: a definition run over this domain writes its own SMT-LIB text.

Every distinct step is defined once, in order, so the text is canonical: the same definition gives the
same text, and any change of it another. Every solver reads the same text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SORT = "(_ BitVec 32)"
FLOATS = "(fp."
"""Stands in every text that uses the theory of floats."""


@dataclass(frozen=True, slots=True)
class Word:
    """A defined step, by name; `test` is the Boolean formula whose 0/1 word it is, if it is one."""

    name: str
    test: str = ""


@dataclass(slots=True)
class SmtDomain:
    """Collects definitions; `text` is what has been defined so far."""

    _names: dict[str, str] = field(default_factory=dict[str, str])
    _lines: list[str] = field(default_factory=list[str])

    def variable(self, name: str) -> Word:
        if name not in self._names:
            self._names[name] = name
            self._lines.append(f"(declare-const {name} {SORT})")
        return Word(name)

    def _define(self, formula: str, sort: str) -> str:
        name = self._names.get(formula)
        if name is None:
            name = f"t{len(self._lines)}"
            self._names[formula] = name
            self._lines.append(f"(define-fun {name} () {sort} {formula})")
        return name

    def _step(self, operator: str, *operands: Word) -> Word:
        return Word(self._define(f"({operator} {' '.join(w.name for w in operands)})", SORT))

    def _test(self, operator: str, a: Word, b: Word) -> Word:
        test = self._define(f"({operator} {a.name} {b.name})", "Bool")
        one, zero = self.const(1), self.const(0)
        return Word(self._define(f"(ite {test} {one.name} {zero.name})", SORT), test)

    def truth(self, a: Word) -> str:
        """The Boolean formula `a` is not zero."""
        if a.test:
            return a.test
        return self._define(f"(distinct {a.name} {self.const(0).name})", "Bool")

    def const(self, bits: int) -> Word:
        return Word(f"#x{bits & 0xFFFF_FFFF:08x}")

    def add(self, a: Word, b: Word) -> Word:
        return self._step("bvadd", a, b)

    def sub(self, a: Word, b: Word) -> Word:
        return self._step("bvsub", a, b)

    def mul(self, a: Word, b: Word) -> Word:
        return self._step("bvmul", a, b)

    def udiv(self, a: Word, b: Word) -> Word:
        return self._guarded("bvudiv", a, b)

    def urem(self, a: Word, b: Word) -> Word:
        return self._guarded("bvurem", a, b)

    def _guarded(self, operator: str, a: Word, b: Word) -> Word:
        zero = self.const(0)
        return self.ite(self.ne(b, zero), self._step(operator, a, b), zero)

    def and_(self, a: Word, b: Word) -> Word:
        if a.test and b.test:
            test = self._define(f"(and {a.test} {b.test})", "Bool")
            return Word(self._step("bvand", a, b).name, test)
        return self._step("bvand", a, b)

    def or_(self, a: Word, b: Word) -> Word:
        if a.test and b.test:
            test = self._define(f"(or {a.test} {b.test})", "Bool")
            return Word(self._step("bvor", a, b).name, test)
        return self._step("bvor", a, b)

    def xor(self, a: Word, b: Word) -> Word:
        return self._step("bvxor", a, b)

    def not_(self, a: Word) -> Word:
        return self._step("bvnot", a)

    def shl(self, a: Word, b: Word) -> Word:
        return self._step("bvshl", a, self._amount(b))

    def shr(self, a: Word, b: Word) -> Word:
        return self._step("bvlshr", a, self._amount(b))

    def _amount(self, b: Word) -> Word:
        if b.name.startswith("#x"):
            return self.const(int(b.name[2:], 16) & 31)
        return self.and_(b, self.const(31))

    def eq(self, a: Word, b: Word) -> Word:
        return self._test("=", a, b)

    def ne(self, a: Word, b: Word) -> Word:
        return self._test("distinct", a, b)

    def ult(self, a: Word, b: Word) -> Word:
        return self._test("bvult", a, b)

    def ule(self, a: Word, b: Word) -> Word:
        return self._test("bvule", a, b)

    def ite(self, condition: Word, a: Word, b: Word) -> Word:
        return Word(self._define(f"(ite {self.truth(condition)} {a.name} {b.name})", SORT))

    def query(self, *assertions: str) -> str:
        """The whole problem: all definitions, and these formulas asserted."""
        lines = [*self._lines, *(f"(assert {a})" for a in assertions)]
        logic = "QF_BVFP" if any(FLOATS in line for line in lines) else "QF_BV"
        return "\n".join([f"(set-logic {logic})", *lines]) + "\n"
