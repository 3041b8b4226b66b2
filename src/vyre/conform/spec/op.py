"""`OpSpec`: everything that is promised about one operation.

    spec.apply(domain, *words)      the definition, one tuple of words per result
    spec.evaluate(*bits)            the definition on plain integers, bits in and bits out
    spec.signature, spec.outputs    types of operands and results
    spec.laws, .properties          what is declared, and what else is known to hold (decision 25)
    spec.non_laws, .errata          what is denied, and where the documents are wrong
    spec.classes, .boundaries       how its inputs are covered

Operands are handed to the definition as u32 words (`conform/spec/words.py`), in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import OpError
from vyre.semantics.domain import CONCRETE
from vyre.semantics.words import masks, split, to_bits, to_words, word_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.ir.expr import Expr
    from vyre.ir.operators import AtomicOp
    from vyre.ir.program import Program
    from vyre.ir.signature import OpSignature
    from vyre.ir.types import DataType
    from vyre.semantics.domain import Domain, V


@dataclass(frozen=True, slots=True)
class ExpressionForm:
    """The language writes the op as one expression of its operands."""

    build: Callable[[tuple[Expr, ...]], Expr]


@dataclass(frozen=True, slots=True)
class AtomicForm:
    """The op is an `Atomic`: operands (old, value[, expected]), results (new, returned)."""

    op: AtomicOp


@dataclass(frozen=True, slots=True)
class LoadForm:
    """The op is a `Load`: operands (index, length, element), result the loaded value."""

    element: DataType


@dataclass(frozen=True, slots=True)
class StoreForm:
    """The op is a `Store`: operands (index, length, at, old, value), result the new element at `at`."""

    element: DataType


@dataclass(frozen=True, slots=True)
class LanesForm:
    """The op is an exchange between the lanes of a subgroup: operands and results of every lane, in order.

    `twin` composes it of other ops in workgroup memory, where no program makes its operands of words.
    """

    width: int
    twin: Program | None = None


Form = ExpressionForm | AtomicForm | LoadForm | StoreForm | LanesForm


@dataclass(frozen=True, slots=True)
class EquivalenceClass:
    """Inputs that an implementation is likely to treat alike.

    `contains(d, *words)` is not zero on members; `sample(d, *words)` moves arbitrary words into the
    class, so that a class of 2^60 members is covered by as many as are asked for.
    """

    name: str
    contains: Callable[..., Any]
    sample: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class NonLaw:
    """A law that does not hold, with the place that denies it."""

    law: AlgebraicLaw
    source: str


@dataclass(frozen=True, slots=True)
class Erratum:
    """A statement of the documents that is wrong; `law` is what holds instead."""

    law: AlgebraicLaw
    source: str
    statement: str


@dataclass(frozen=True, slots=True)
class Alternate:
    """Another way to compute the op, as an expression of its operands; it must give the same bits."""

    name: str
    build: Callable[[tuple[Expr, ...]], Expr]


def as_tuple(words: Any) -> tuple[Any, ...]:
    """One word or several, as several."""
    return cast("tuple[Any, ...]", words) if isinstance(words, tuple) else (words,)


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One operation. `boundaries` holds, per operand word, the values at which behaviour may change."""

    id: str
    signature: OpSignature
    cpu_fn: Callable[..., Any]
    form: Form
    doc: str
    category: str = "A"
    laws: tuple[AlgebraicLaw, ...] = ()
    properties: tuple[AlgebraicLaw, ...] = ()
    non_laws: tuple[NonLaw, ...] = ()
    errata: tuple[Erratum, ...] = ()
    classes: tuple[EquivalenceClass, ...] = ()
    boundaries: tuple[tuple[int, ...], ...] = ()
    alternates: tuple[Alternate, ...] = ()
    extra_results: tuple[DataType, ...] = ()
    """Results before the signature's output: an atomic's new value stands before what it returns."""
    hardware: str = ""
    availability: Callable[[str], bool] | None = None
    """Category C only: the instruction, and which backends have it."""

    @property
    def version(self) -> int:
        """1 for a bare id, N for `id@N` (decision 20)."""
        return int(self.id.partition("@")[2] or 1)

    @property
    def arity(self) -> int:
        return len(self.signature.inputs)

    @property
    def outputs(self) -> tuple[DataType, ...]:
        """Types of the results, in the order in which `apply` gives them."""
        return (*self.extra_results, self.signature.output)

    @property
    def words(self) -> int:
        """How many u32 words its operands take."""
        return sum(word_count(t) for t in self.signature.inputs)

    @property
    def masks(self) -> tuple[int, ...]:
        """The bits each operand word may have set."""
        return masks(self.signature.inputs)

    def apply(self, d: Domain[V], *words: V) -> tuple[tuple[V, ...], ...]:
        """The definition over a domain: one tuple of words per result."""
        if len(words) != self.words:
            raise OpError(
                f"{self.id} takes {self.words} words, not {len(words)}.",
                fix="pass every lane of every operand, lane 0 first.",
            )
        return split(self.outputs, as_tuple(self.cpu_fn(d, *words)))

    def evaluate(self, *bits: int) -> tuple[int, ...]:
        """The definition on plain integers: the bits of each operand to the bits of each result."""
        words = [w for t, b in zip(self.signature.inputs, bits, strict=True) for w in to_words(t, b)]
        return tuple(to_bits(result) for result in self.apply(CONCRETE, *words))
