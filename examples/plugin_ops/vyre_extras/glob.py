"""Whether a pattern of four bytes with `*` and `?` matches a text of four bytes, one in each word."""

from typing import Any

from vyre import DataType, Let, LitU32, Op, Param, Select, Var
from vyre.conform.registry.build import c, law1
from vyre.conform.spec.law import Bounded
from vyre.conform.spec.term import Equation
from vyre_extras.promise import promise

STAR, ANY = ord("*"), ord("?")
ALL = int.from_bytes(b"****", "little")


U32 = DataType.U32


def _steps() -> list[Let]:
    """Bit j of `reached`: what was read of the pattern matches the first j bytes of the text."""
    body, reached = [Let("reached0", LitU32(1))], Var("reached0")
    for i in range(4):
        p = Var(f"p{i}")
        fits = [(Var("text") >> 8 * j & 255).eq(p) << j for j in range(4)]
        anything = Select(p.eq(ANY), LitU32(15), fits[0] | fits[1] | fits[2] | fits[3])
        # The lowest bit and all above it: what a star goes on to.
        onwards = reached | -reached
        found = Select(p.eq(STAR), onwards, (reached & anything) << 1) & 31
        body += [Let(p.name, Var("pattern") >> 8 * i & 255), Let(f"reached{i + 1}", found)]
        reached = Var(f"reached{i + 1}")
    return body


MATCHES = Op(
    "extras.glob.matches",
    (Param("pattern", U32), Param("text", U32)),
    U32,
    Var("reached4") >> 4,
    tuple(_steps()),
    doc="1 where the four bytes of `pattern` match the four of `text`, else 0.",
)


def matched(d: Any, pattern: Any, text: Any) -> Any:
    def byte(word: Any, k: int) -> Any:
        return d.and_(d.shr(word, d.const(8 * k)), d.const(255))

    reached = [d.const(1), *(d.const(0) for _ in range(4))]
    for i in range(4):
        p, seen, after = byte(pattern, i), d.const(0), []
        for j in range(5):
            seen = d.or_(seen, reached[j])
            fits = d.or_(d.eq(p, d.const(ANY)), d.eq(p, byte(text, j - 1))) if j else d.const(0)
            one = d.and_(reached[j - 1], fits) if j else d.const(0)
            after.append(d.ite(d.eq(p, d.const(STAR)), seen, one))
        reached = after
    return reached[4]


SPEC = promise(
    MATCHES,
    matched,
    Bounded(0, 1),
    law1("**** matches everything", lambda f, a: Equation(f(c(ALL), a), c(1))),
    law1("every text matches itself", lambda f, a: Equation(f(a, a), c(1))),
    edges=(0, *(int.from_bytes(text, "little") for text in (b"*b?d", b"????", b"abcd", b"a**d", b"*?*?"))),
)
