"""What an expression, and an op made of statements, means over any domain.

    Evaluation(d)                    expressions over named values
    run(op, d, arguments)            an op: its statements in order, then its result

A value is its u32 words, lane 0 first (`words.py`). Operators are read from `operators.py`, casts from
`casts.py`. A `Spelling` puts other ways to write definitions in their place where a domain has better ones;
each must mean the same, which tests and proofs hold. What is not integer arithmetic, and what needs a
machine, is refused with an `OpError`, never approximated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic

from vyre.errors import OpError, counted
from vyre.ir import expr as e
from vyre.ir.node import Assign, If, Let
from vyre.ir.typing import CAST_TABLE, type_of
from vyre.ir.walk import postorder
from vyre.semantics.casts import FLOAT_RULES, cast
from vyre.semantics.domain import V
from vyre.semantics.operators import BINARY, UNARY, select
from vyre.semantics.words import to_words

if TYPE_CHECKING:
    from vyre.ir.node import Node
    from vyre.ir.op import Op
    from vyre.ir.signature import OpSignature
    from vyre.ir.types import DataType
    from vyre.semantics.domain import Domain

Definition = Callable[..., Any]
Spelling = Mapping[Definition, Definition]
"""For a definition of `operators.py`, another that means the same and suits one domain better."""


class Evaluation(Generic[V]):
    """Expressions over the variables declared so far; each distinct expression is evaluated once.

    `keep` takes the words of every evaluated expression that is not a variable and gives those to go on
    with, for a domain that names what it has computed.
    """

    def __init__(
        self,
        domain: Domain[V],
        *,
        spelling: Spelling | None = None,
        keep: Callable[[tuple[V, ...]], tuple[V, ...]] | None = None,
    ) -> None:
        self._domain = domain
        self._spelling = spelling or {}
        self._keep = keep
        self._variables: dict[str, tuple[DataType, tuple[V, ...]]] = {}
        self._done: dict[e.Expr, tuple[DataType, tuple[V, ...]]] = {}

    def __len__(self) -> int:
        """How many expressions have been evaluated, variables among them."""
        return len(self._done)

    def declare(self, name: str, of: DataType, words: tuple[V, ...]) -> None:
        """A new variable, or another value for one; what was evaluated with the old value is forgotten."""
        if name in self._variables:
            self._done.clear()
        self._variables[name] = (of, words)

    def variable(self, name: str) -> DataType | None:
        known = self._variables.get(name)
        return None if known is None else known[0]

    def element(self, buffer: str) -> DataType | None:
        return None

    def signature(self, op_id: str) -> OpSignature | None:
        return None

    def type(self, root: e.Expr) -> DataType:
        return self._evaluated(root)[0]

    def words(self, root: e.Expr) -> tuple[V, ...]:
        return self._evaluated(root)[1]

    def _evaluated(self, root: e.Expr) -> tuple[DataType, tuple[V, ...]]:
        done = self._done
        for expr in postorder(root, done) if root not in done else ():
            if isinstance(expr, e.Var):
                known = self._variables.get(expr.name)
                if known is None:
                    raise _refused(f"the variable {expr.name!r} has no value.")
                done[expr] = known
                continue
            operands = [done[child] for child in expr.children]
            types = tuple([of for of, _ in operands])
            found = type_of(expr, types, self)
            if found is None:
                raise _refused(f"{expr!r} has no type over {[of.value for of in types]}.")
            words = self._meaning(expr, types, [words for _, words in operands])
            done[expr] = (found, words if self._keep is None else self._keep(words))
        return done[root]

    def _meaning(
        self, expr: e.Expr, types: tuple[DataType, ...], operands: list[tuple[V, ...]]
    ) -> tuple[V, ...]:
        d = self._domain
        match expr:
            case e.BinOp(op=op) if (definition := BINARY.get(op)) is not None:
                return (self._spelled(definition)(d, operands[0][0], operands[1][0]),)
            case e.LitU32(value=bits) | e.LitI32(value=bits) | e.LitBool(value=bits):
                return (d.const(int(bits)),)
            case e.Literal(type=of, bits=bits):
                return tuple(d.const(word) for word in to_words(of, bits))
            case e.UnOp(op=op) if (definition := UNARY.get(op)) is not None:
                return (self._spelled(definition)(d, operands[0][0]),)
            case e.Select():
                return self._spelled(select)(d, operands[0][0], operands[1], operands[2])
            case e.Lane(index=index):
                return (operands[0][index],)
            case e.MakeVec():
                return tuple([word for words in operands for word in words])
            case e.Cast(target=target) if (rule := CAST_TABLE[types[0], target]) not in FLOAT_RULES:
                return cast(d, rule, target, operands[0])
            case _:
                raise _refused(f"{expr!r} has no meaning on integer words alone.")

    def _spelled(self, definition: Definition) -> Definition:
        return self._spelling.get(definition, definition)


def _refused(what: str) -> OpError:
    return OpError(
        what, fix="use Let, Assign, If, Select, casts and integer operators, and inline calls first."
    )


def run(
    op: Op,
    domain: Domain[V],
    arguments: Sequence[tuple[V, ...]],
    *,
    spelling: Spelling | None = None,
    bind: Callable[[str, tuple[V, ...]], tuple[V, ...]] | None = None,
    never: Callable[[V], bool] | None = None,
) -> tuple[V, ...]:
    """The words of the op's result: `Let`s, and branches one deep that assign.

    `bind` takes the name and the words of every `Let` and gives those to go on with. `never` may say of a
    condition that it holds nowhere, so that its branch is left out.
    """
    if len(arguments) != len(op.params):
        raise OpError(
            f"{op.id} takes {counted(len(op.params), 'argument')}, not {len(arguments)}.",
            fix="pass one argument per parameter.",
        )
    evaluation = Evaluation(domain, spelling=spelling)
    for param, words in zip(op.params, arguments, strict=True):
        evaluation.declare(param.name, param.type, words)
    try:
        for node in op.body:
            _step(node, evaluation, domain, bind, never)
        if op.result is None:
            raise _refused("there is no result.")
        return evaluation.words(op.result)
    except OpError as error:
        raise OpError(f"{op.id} cannot be evaluated: {error.message}", fix=error.fix) from error


def _step(
    node: Node,
    evaluation: Evaluation[V],
    domain: Domain[V],
    bind: Callable[[str, tuple[V, ...]], tuple[V, ...]] | None,
    never: Callable[[V], bool] | None,
) -> None:
    match node:
        case Let(name=name, value=value):
            words = evaluation.words(value)
            evaluation.declare(name, evaluation.type(value), words if bind is None else bind(name, words))
        case If(condition=condition, then=then, orelse=()):
            (taken,) = evaluation.words(condition)
            if never is None or not never(taken):
                for inner in then:
                    _branch(inner, evaluation, domain, taken)
        case _:
            raise _refused(f"a {type(node).__name__} is not evaluated.")


def _branch(node: Node, evaluation: Evaluation[V], domain: Domain[V], taken: V) -> None:
    """A statement of a branch is carried out everywhere, and assigns only where the branch is taken."""
    match node:
        case Let(name=name, value=value):
            evaluation.declare(name, evaluation.type(value), evaluation.words(value))
        case Assign(name=name, value=value):
            old = evaluation.words(e.Var(name))
            new = evaluation.words(value)
            evaluation.declare(name, evaluation.type(value), select(domain, taken, new, old))
        case _:
            raise _refused(f"a {type(node).__name__} in a branch is not evaluated.")
