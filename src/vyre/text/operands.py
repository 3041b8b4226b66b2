"""The forms an operand can take: literals, names, ids, brackets and functions.

`start_operand` consumes the head of one operand. A leaf comes back as an expression; anything with
operands of its own comes back as a `Frame`, which says what must stand between them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from vyre.ir import expr as e
from vyre.ir.float_bits import nearest_of
from vyre.ir.limits import U32_MAX
from vyre.ir.types import FLOAT_TYPES
from vyre.text.functions import ONE, Frame, start_function, start_generic
from vyre.text.lexer import clip
from vyre.text.vocabulary import AXES, KEYWORDS, LITERAL_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.errors import ParseError
    from vyre.ir.types import DataType
    from vyre.text.lexer import Cursor

_MAX_DECIMAL: Final = 400
"""Characters of a decimal float; its exponent has at most four digits, so it is cheap to round."""

_LITERALS: Final = {name: kind for kind, name in LITERAL_FUNCTIONS.items()}
_IDS: Final[dict[str, Callable[[int], e.Expr]]] = {
    "invocation": e.InvocationId,
    "workgroup": e.WorkgroupId,
    "local": e.LocalId,
}


def start_operand(c: Cursor) -> e.Expr | Frame:
    at = c.at
    kind = c.kinds[at]
    if kind == "name" or kind == "quoted":
        follows = c.kinds[at + 1]
        if follows == "[":
            c.at = at + 2
            buffer = c.values[at]
            return Frame(at, "buffer[index]", (("]",),), lambda x: e.Load(buffer, x[0]))
        if follows == "(" and kind == "name":
            literal = _LITERALS.get(c.values[at])
            return _literal(c, literal) if literal else start_function(c, c.values[at])
        c.at = at + 1
        return e.Var(c.values[at])
    if kind == "int":
        value = c.integer(
            "a U32 literal", low=0, high=U32_MAX, fix="write 0 to 4294967295; u64(…) holds more."
        )
        return e.LitU32(value)
    if kind == "i32":
        return signed_literal(c, negative=False)
    if kind == "true" or kind == "false":
        c.at = at + 1
        return e.LitBool(kind == "true")
    if kind == "(":
        c.at = at + 1
        return Frame(at, "(expression)", ONE, lambda x: x[0])
    if kind in _IDS:
        return _id(c, kind)
    if kind == "call":
        c.at = at + 1
        name = op_id(c)
        c.expect("(", context="after the op id", fix=f"write call {clip(name)}(a, b).")
        return Frame(at, f"call {clip(name)}(…)", None, lambda x: e.Call(name, tuple(x)))
    if kind in KEYWORDS:
        generic = start_generic(c, kind)
        if generic is None:
            raise _no_operand(c)
        return generic
    if kind == "decimal":
        raise c.error(
            f"the number {clip(c.value)} does not say its float type.",
            fix=f"write f32({clip(c.value)}), or f16, bf16 or f64.",
        )
    raise _no_operand(c)


def _no_operand(c: Cursor) -> ParseError:
    fix = "write a literal, a name, buffer[index], a function such as popcount(x), or ( … )."
    if c.kind in KEYWORDS:
        fix = f"write an expression here; `{c.kind}` names a variable only between backticks."
    return c.error(f"expected an expression, found {c.describe()}.", fix=fix)


def signed_literal(c: Cursor, *, negative: bool) -> e.Expr:
    value = c.number(c.at)
    if value > (1 << 31) - (not negative):
        raise c.error(
            f"{c.describe()} is outside I32.", fix="write -2147483648i to 2147483647i; u64(…) holds more."
        )
    c.at += 1
    return e.LitI32(-value if negative else value)


def op_id(c: Cursor) -> str:
    """`primitive.math.add`, `acme.mix@2`, or any text between backticks."""
    if c.kind == "quoted":
        c.at += 1
        return c.values[c.at - 1]
    parts = [_word(c)]
    while c.take("."):
        parts.append(_word(c))
    version = ""
    if c.take("@"):
        if c.kind != "int":
            raise c.error(
                f"expected a version, found {c.describe()}.", fix="write the version as in acme.mix@2."
            )
        version = "@" + c.value
        c.at += 1
    return ".".join(parts) + version


def _word(c: Cursor) -> str:
    if c.kind != "name" and c.kind not in KEYWORDS:
        raise c.error(
            f"expected an op id, found {c.describe()}.", fix="write an id such as primitive.math.add."
        )
    c.at += 1
    return c.values[c.at - 1]


def _id(c: Cursor, word: str) -> e.Expr:
    c.at += 1
    fix = f"write {word}.x, {word}.y or {word}.z."
    c.expect(
        ".", context=f"after `{word}`", fix=f"{fix[:-1]}; a variable of that name is `{word}` in backticks."
    )
    if c.kind == "name" and len(c.value) == 1 and c.value in AXES:
        c.at += 1
        return _IDS[word](AXES.index(c.values[c.at - 1]))
    return _IDS[word](c.integer("an axis (x, y, z or 0 to 255)", low=0, high=255, fix=fix))


def _literal(c: Cursor, kind: DataType) -> e.Expr:
    """Bits in hexadecimal; a float also as a decimal number with a point, a U64 or U128 in decimal."""
    c.at += 2
    at = c.at
    name = LITERAL_FUNCTIONS[kind]
    is_float = kind in FLOAT_TYPES
    example = f"{name}(1.5) for the value or {name}(0x…) for the bits" if is_float else f"{name}(5)"
    fix = f"write {example}."
    negative = is_float and c.take("-")
    if is_float and c.kind == "decimal":
        bits = _rounded(c, kind, negative=negative)
    else:
        if is_float and (negative or (c.kind == "int" and c.value[:2] not in ("0x", "0X"))):
            raise c.error(f"{c.describe()} may mean a value or bits.", fix=fix, at=at)
        bits = c.integer(f"a literal of {kind.value}", low=0, high=(1 << kind.bits) - 1, fix=fix)
    c.expect(")", context="after the literal", fix=fix)
    return e.Literal(kind, bits)


def _rounded(c: Cursor, kind: DataType, *, negative: bool) -> int:
    digits = c.value
    exponent = digits.lower().partition("e")[2].lstrip("+-")
    if len(digits) > _MAX_DECIMAL or len(exponent) > 4:
        raise c.error(
            "this decimal number is too long to round.", fix="write the bits in hexadecimal instead."
        )
    c.at += 1
    return nearest_of(kind, Fraction(digits), negative=negative)
