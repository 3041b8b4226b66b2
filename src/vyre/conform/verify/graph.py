"""What is to be run and compared for one op: applications, and checks between their results.

Every application is a dispatch of one op on whole arrays, and equal applications are run once. So the two
sides of a law never meet in a kernel, and a compiler sees nothing but the one operation, with all operands
from buffers. The op's own application to its variables is compared with the definition; the sides of its
laws with each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.spec.law import label
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Apply, Constant, Relation, Variable
from vyre.conform.spec.words import word_count
from vyre.errors import OpError

if TYPE_CHECKING:
    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Equation, Term
    from vyre.ir.types import DataType

PARITY = "parity"


@dataclass(frozen=True, slots=True)
class Value:
    """A result of an application: its place among the nodes, and which of its results."""

    node: int
    result: int


Source = Variable | Constant | Value


@dataclass(frozen=True, slots=True)
class Node:
    """One application: an op on sources."""

    spec: OpSpec
    args: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison: of node 0 with the definition (`equation` None), or of the sides of an equation.

    `needs` are the nodes to run for it, in order; `positions` how many operand words it reaches.
    """

    name: str
    role: str
    number: int
    equation: Equation | None
    left: Source
    right: Source
    condition: Source | None
    needs: tuple[int, ...]
    positions: int

    @property
    def relation(self) -> Relation:
        return self.equation.relation if self.equation is not None else Relation.Eq


@dataclass(frozen=True, slots=True)
class Graph:
    """The applications and checks of an op, and the operand words each variable takes."""

    spec: OpSpec
    nodes: tuple[Node, ...]
    checks: tuple[Check, ...]
    positions: dict[Variable, tuple[int, ...]]
    statements: dict[str, tuple[str, ...]]
    """The equations of every law, as text, by the name of its check."""

    @property
    def words(self) -> int:
        """How many operand words there are in all."""
        return max((p + 1 for places in self.positions.values() for p in places), default=0)

    def variables(self, check: Check) -> tuple[Variable, ...]:
        """The variables a check depends on, by position."""
        found: set[Variable] = set()
        for source in (check.left, check.right, check.condition):
            if isinstance(source, Variable):
                found.add(source)
        for j in check.needs:
            found |= {a for a in self.nodes[j].args if isinstance(a, Variable)}
        return tuple(sorted(found, key=lambda v: self.positions[v]))


def graph(spec: OpSpec, lookup: Lookup) -> Graph:
    """Everything that is checked about an op: parity, then its laws, then its properties."""
    return _Builder(spec, lookup).build()


def law_names(spec: OpSpec) -> list[tuple[str, str, AlgebraicLaw]]:
    """Name, role and law of everything declared, in order."""
    return [
        *((label(law), "law", law) for law in spec.laws),
        *((label(law), "property", law) for law in spec.properties),
    ]


class _Builder:
    def __init__(self, spec: OpSpec, lookup: Lookup) -> None:
        self.spec = spec
        self.lookup = lookup
        self.nodes: list[Node] = []
        self.known: dict[Node, int] = {}
        self.positions: dict[Variable, tuple[int, ...]] = {}
        self.next = 0
        for k, of in enumerate(spec.signature.inputs):
            self._place(Variable(k, of))

    def build(self) -> Graph:
        own = self._value(
            Apply(self.spec.id, tuple(Variable(k, t) for k, t in enumerate(self.spec.signature.inputs)))
        )
        checks = [Check(PARITY, PARITY, 0, None, own, own, None, (0,), self.spec.words)]
        statements: dict[str, tuple[str, ...]] = {}
        for name, role, law in law_names(self.spec):
            equations = sides(law, self.spec)
            statements[name] = tuple(map(str, equations))
            checks += [self._check(name, role, n, e) for n, e in enumerate(equations)]
        return Graph(self.spec, tuple(self.nodes), tuple(checks), self.positions, statements)

    def _check(self, name: str, role: str, number: int, equation: Equation) -> Check:
        left, right = self._value(equation.lhs), self._value(equation.rhs)
        condition = None if equation.precondition is None else self._value(equation.precondition)
        sources = [s for s in (left, right, condition) if s is not None]
        needs = self._needs(sources)
        variables = {s for s in sources if isinstance(s, Variable)}
        variables |= {a for j in needs for a in self.nodes[j].args if isinstance(a, Variable)}
        reach = max((p + 1 for v in variables for p in self.positions[v]), default=0)
        return Check(name, role, number, equation, left, right, condition, needs, reach)

    def _needs(self, sources: list[Source]) -> tuple[int, ...]:
        found: set[int] = set()
        stack = [s.node for s in sources if isinstance(s, Value)]
        while stack:
            j = stack.pop()
            if j not in found:
                found.add(j)
                stack += [a.node for a in self.nodes[j].args if isinstance(a, Value)]
        return tuple(sorted(found))

    def _value(self, term: Term) -> Source:
        if isinstance(term, Constant):
            return term
        if isinstance(term, Variable):
            self._place(term)
            return term
        node = Node(self._spec_of(term), tuple(self._value(arg) for arg in term.args))
        if node not in self.known:
            self.known[node] = len(self.nodes)
            self.nodes.append(node)
        return Value(self.known[node], term.result)

    def _spec_of(self, term: Apply) -> OpSpec:
        found = self.spec if term.op == self.spec.id else self.lookup(term.op)
        if len(term.args) != found.arity:
            raise OpError(f"{term} has {len(term.args)} arguments.", fix=f"{found.id} takes {found.arity}.")
        return found

    def _place(self, variable: Variable) -> None:
        if variable not in self.positions:
            count = word_count(variable.type)
            self.positions[variable] = tuple(range(self.next, self.next + count))
            self.next += count


def type_of_source(graph: Graph, source: Source) -> DataType:
    """The type of a variable, a constant or a result."""
    match source:
        case Variable(type=of) | Constant(type=of):
            return of
        case Value(node=node, result=result):
            return graph.nodes[node].spec.outputs[result]
