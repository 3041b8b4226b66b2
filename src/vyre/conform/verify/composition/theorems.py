"""How laws carry over from parts to compositions: theorems about arbitrary functions.

A theorem is proved with its functions uninterpreted, so it holds for every op that keeps its hypotheses. It
comes with an application, functions that keep the hypotheses (so that it is not empty), and with a mutant:
the theorem without one hypothesis, and functions that keep all the others and break the conclusion.
"""

from __future__ import annotations

from dataclasses import dataclass

WORD = "(_ BitVec 32)"
_PARAMETERS = "pqr"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A formula about all `p`, `q`, `r`; `at` are the terms at which the proof of the theorem uses it."""

    name: str
    formula: str
    at: tuple[tuple[str, ...], ...]

    @property
    def parameters(self) -> str:
        return _PARAMETERS[: len(self.at[0])]

    def instances(self) -> list[str]:
        return [
            f"(let ({' '.join(f'({p} {t})' for p, t in zip(self.parameters, terms, strict=True))}) "
            f"{self.formula})"
            for terms in self.at
        ]


@dataclass(frozen=True, slots=True)
class Theorem:
    """`functions` by name and arity; `variables` are the free words of the conclusion.

    `application` and `mutant` give a body over `p` and `q` (a word for a constant) to each function;
    `without` names the hypothesis that the mutant lacks.
    """

    name: str
    statement: str
    functions: tuple[tuple[str, int], ...]
    hypotheses: tuple[Hypothesis, ...]
    variables: str
    conclusion: str
    application: tuple[str, ...]
    without: str
    mutant: tuple[str, ...]


def _commutative(*at: tuple[str, str]) -> Hypothesis:
    return Hypothesis("f is commutative", "(= (f p q) (f q p))", at)


def _associative(*at: tuple[str, str, str], f: str = "f") -> Hypothesis:
    return Hypothesis(f"{f} is associative", f"(= ({f} ({f} p q) r) ({f} p ({f} q r)))", at)


def _involution(*at: str, u: str = "u") -> Hypothesis:
    return Hypothesis(f"{u} is an involution", f"(= ({u} ({u} p)) p)", tuple((t,) for t in at))


def _monotone(f: str, *at: tuple[str, str]) -> Hypothesis:
    return Hypothesis(f"{f} is monotone", f"(=> (bvule p q) (bvule ({f} p) ({f} q)))", at)


def _dual(x: str, y: str) -> str:
    """g = u f u: what De Morgan makes of f."""
    return f"(u (f (u {x}) (u {y})))"


_AND, _SUB, _ADD = "(bvand p q)", "(bvsub p q)", "(bvadd p q)"
_NOT, _NEXT, _FIRST = "(bvnot p)", "(bvadd p #x00000001)", "p"
_BINARY_UNARY = (("f", 2), ("u", 1))
_WITH_CONSTANT = (("f", 2), ("u", 1), ("e", 0))

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        "image of a commutative op",
        "f commutative => u(f(a, b)) commutative",
        _BINARY_UNARY,
        (_commutative(("a", "b")),),
        "ab",
        "(= (u (f a b)) (u (f b a)))",
        (_ADD, _NOT),
        "f is commutative",
        (_SUB, _NOT),
    ),
    Theorem(
        "dual of a commutative op",
        "f commutative => u(f(u(a), u(b))) commutative",
        _BINARY_UNARY,
        (_commutative(("(u a)", "(u b)")),),
        "ab",
        f"(= {_dual('a', 'b')} {_dual('b', 'a')})",
        (_AND, _NOT),
        "f is commutative",
        (_SUB, _NOT),
    ),
    Theorem(
        "dual of an associative op",
        "f associative, u an involution => u(f(u(a), u(b))) associative",
        _BINARY_UNARY,
        (
            _associative(("(u a)", "(u b)", "(u c)")),
            _involution("(f (u a) (u b))", "(f (u b) (u c))"),
        ),
        "abc",
        f"(= {_dual(_dual('a', 'b'), 'c')} {_dual('a', _dual('b', 'c'))})",
        (_AND, _NOT),
        "u is an involution",
        (_AND, _NEXT),
    ),
    Theorem(
        "identity of a dual",
        "e the identity of f, u an involution => u(e) the identity of u(f(u(a), u(b)))",
        _WITH_CONSTANT,
        (
            Hypothesis("e is the identity of f", "(and (= (f p e) p) (= (f e p) p))", (("(u a)",),)),
            _involution("a", "e"),
        ),
        "a",
        f"(and (= {_dual('a', '(u e)')} a) (= {_dual('(u e)', 'a')} a))",
        (_AND, _NOT, "#xffffffff"),
        "u is an involution",
        (_AND, _NEXT, "#xffffffff"),
    ),
    Theorem(
        "absorbing element of a dual",
        "e absorbs in f, u an involution => u(e) absorbs in u(f(u(a), u(b)))",
        _WITH_CONSTANT,
        (
            Hypothesis("e absorbs in f", "(and (= (f p e) e) (= (f e p) e))", (("(u a)",),)),
            _involution("e"),
        ),
        "a",
        f"(and (= {_dual('a', '(u e)')} (u e)) (= {_dual('(u e)', 'a')} (u e)))",
        (_AND, _NOT, "#x00000000"),
        "u is an involution",
        (_AND, _NEXT, "#x00000000"),
    ),
    Theorem(
        "dual of an idempotent op",
        "f idempotent, u an involution => u(f(u(a), u(a))) = a",
        _BINARY_UNARY,
        (Hypothesis("f is idempotent", "(= (f p p) p)", (("(u a)",),)), _involution("a")),
        "a",
        f"(= {_dual('a', 'a')} a)",
        (_AND, _NOT),
        "f is idempotent",
        (_ADD, _NOT),
    ),
    Theorem(
        "composition of monotone ops",
        "f and g monotone => f(g(a)) monotone",
        (("f", 1), ("g", 1)),
        (_monotone("f", ("(g a)", "(g b)")), _monotone("g", ("a", "b"))),
        "ab",
        "(=> (bvule a b) (bvule (f (g a)) (f (g b))))",
        ("(bvlshr p #x00000001)", "(bvudiv p #x00000003)"),
        "f is monotone",
        (_NOT, _FIRST),
    ),
    Theorem(
        "composition of involutions",
        "u and v involutions that commute => u(v(a)) an involution",
        (("u", 1), ("v", 1)),
        (
            _involution("a"),
            _involution("a", u="v"),
            Hypothesis("u and v commute", "(= (u (v p)) (v (u p)))", (("(v (u a))",), ("(u a)",), ("a",))),
        ),
        "a",
        "(= (u (v (u (v a)))) a)",
        (_NOT, "(bvxor p #x0000ffff)"),
        "u and v commute",
        (_NOT, "(bvneg p)"),
    ),
    Theorem(
        "regrouping",
        "f associative => a balanced tree of four equals the fold from the left",
        (("f", 2),),
        (_associative(("(f a b)", "c", "d")),),
        "abcd",
        "(= (f (f a b) (f c d)) (f (f (f a b) c) d))",
        (_ADD,),
        "f is associative",
        (_SUB,),
    ),
    Theorem(
        "reordering",
        "f associative and commutative => the order of operands does not matter",
        (("f", 2),),
        (_associative(("a", "b", "c"), ("b", "c", "a")), _commutative(("a", "(f b c)"), ("b", "c"))),
        "abc",
        "(= (f (f a b) c) (f (f c b) a))",
        (_ADD,),
        "f is commutative",
        (_FIRST,),
    ),
    Theorem(
        "distribution over a sum of three",
        "f distributes over g => f(a, g(g(b, c), d)) = g(g(f(a, b), f(a, c)), f(a, d))",
        (("f", 2), ("g", 2)),
        (
            Hypothesis(
                "f distributes over g",
                "(= (f p (g q r)) (g (f p q) (f p r)))",
                (("a", "(g b c)", "d"), ("a", "b", "c")),
            ),
        ),
        "abcd",
        "(= (f a (g (g b c) d)) (g (g (f a b) (f a c)) (f a d)))",
        (_AND, "(bvxor p q)"),
        "f distributes over g",
        (_ADD, "(bvxor p q)"),
    ),
    Theorem(
        "bound of a composition",
        "f at most e => f(u(a)) at most e",
        (("f", 1), ("u", 1), ("e", 0)),
        (Hypothesis("f is bounded by e", "(bvule (f p) e)", (("(u a)",),)),),
        "a",
        "(bvule (f (u a)) e)",
        ("(bvand p #x0000001f)", _NOT, "#x0000001f"),
        "f is bounded by e",
        (_FIRST, _NOT, "#x0000001f"),
    ),
    Theorem(
        "substitution",
        "f and g equal => they are equal in every place, h(f(a), b) = h(g(a), b)",
        (("f", 1), ("g", 1), ("h", 2)),
        (Hypothesis("f and g are equal", "(= (f p) (g p))", (("a",),)),),
        "ab",
        "(= (h (f a) b) (h (g a) b))",
        ("(bvneg p)", "(bvsub #x00000000 p)", _ADD),
        "f and g are equal",
        ("(bvneg p)", _NOT, _ADD),
    ),
)


def obligation(theorem: Theorem) -> str:
    """Unsatisfiable exactly when the conclusion follows from the instances of the hypotheses."""
    lines = ["(set-logic QF_UFBV)"]
    lines += [f"(declare-fun {f} ({' '.join([WORD] * arity)}) {WORD})" for f, arity in theorem.functions]
    lines += [f"(declare-const {v} {WORD})" for v in theorem.variables]
    lines += [f"(assert {i})" for h in theorem.hypotheses for i in h.instances()]
    return "\n".join([*lines, f"(assert (not {theorem.conclusion}))"]) + "\n"


def _with_bodies(theorem: Theorem, bodies: tuple[str, ...], free: str, formula: str) -> str:
    lines = ["(set-logic QF_BV)"]
    for (f, arity), body in zip(theorem.functions, bodies, strict=True):
        parameters = " ".join(f"({p} {WORD})" for p in _PARAMETERS[:arity])
        lines.append(f"(define-fun {f} ({parameters}) {WORD} {body})")
    lines += [f"(declare-const {v} {WORD})" for v in free]
    return "\n".join([*lines, f"(assert (not {formula}))"]) + "\n"


def application_obligations(theorem: Theorem) -> list[str]:
    """Each unsatisfiable where the applied functions keep the hypotheses, and so the conclusion."""
    kept = [_with_bodies(theorem, theorem.application, h.parameters, h.formula) for h in theorem.hypotheses]
    return [*kept, _with_bodies(theorem, theorem.application, theorem.variables, theorem.conclusion)]


def mutant_obligations(theorem: Theorem) -> tuple[list[str], str]:
    """What the mutant's functions still keep (unsatisfiable), and the conclusion they break (satisfiable)."""
    kept = [
        _with_bodies(theorem, theorem.mutant, h.parameters, h.formula)
        for h in theorem.hypotheses
        if h.name != theorem.without
    ]
    return kept, _with_bodies(theorem, theorem.mutant, theorem.variables, theorem.conclusion)
