"""Text to tokens in one linear scan, a few thousand ahead of the parser. Positions are offsets until an error
needs a line.

So a text that is refused at its beginning is not read to its end, and what was read takes twenty bytes a
token, whatever it said.
"""

from __future__ import annotations

import re
import sys
from array import array
from io import StringIO
from itertools import islice
from typing import Final

from vyre.errors import ParseError
from vyre.text.vocabulary import KEYWORDS

_TOKEN: Final = re.compile(
    r"""
    (?: [ \t\r\n\ufeff]+ | //[^\n]* | /\*[\s\S]*?\*/ )*+
    (?: (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>:=|\.\.|->|=>|<<|>>|<=|>=|==|!=|&&|\|\||/(?!\*)|[-+*%&|^~!<>=(){}\[\],;:.@])
    | (?P<decimal>(?<!\.)[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)(?![A-Za-z0-9_]))
    | (?P<int>(?:0[xX][0-9A-Fa-f_]+|[0-9][0-9_]*)(?![A-Za-z0-9_]))
    | (?P<i32>[0-9][0-9_]*i(?![A-Za-z0-9_]))
    | (?P<malformed>[0-9][A-Za-z0-9_]*)
    | (?P<quoted>`[^`\\\n]*+(?:\\[^\n][^`\\\n]*+)*+`)
    | (?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")
    | (?P<comment>/\*)
    | (?P<other>[\s\S])
    | (?P<end>\Z)
    )
    """,
    re.VERBOSE,
)
_REFUSED: Final = frozenset({"malformed", "comment", "other"})
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))")
_PLAIN_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "`": "`", '"': '"'}
_MAX_DIGITS: Final = 1_000
"""Decimal digits of a number; Python converts longer ones in quadratic time. Hexadecimal has no bound."""


_CHUNK: Final = 4_096
"""Tokens that are made at a time, and whose texts are kept behind the parser."""

_AHEAD: Final = 2
"""Tokens that the parser looks ahead."""


class Tokens:
    """Parallel lists: what each token is, its text or name, and where it starts.

    The kind is the text itself for marks and keywords, else `name`, `quoted`, `int`, `i32`,
    `decimal`, `string` or `end`. The last token is always `end`. The lists grow as the parser goes on.
    """

    __slots__ = ("_forgotten", "_matches", "file", "kinds", "offsets", "text", "values")

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.kinds: list[str] = []
        self.values: list[str] = []
        self.offsets = array("Q")
        self._matches = _TOKEN.finditer(text)
        self._forgotten = 0

    def fill(self, at: int) -> int:
        """Makes more tokens for a parser at `at`, and says up to where it may go before it asks again."""
        for match in islice(self._matches, max(0, at - len(self.kinds)) + _CHUNK):
            kind = match.lastgroup or "end"
            value = match[kind]
            offset = match.start(kind)
            if kind == "mark":
                kind = value
            elif kind == "word":
                kind = value if value in KEYWORDS else "name"
            elif kind == "quoted" or kind == "string":
                value = self._unquote(value, offset)
            elif kind in _REFUSED:
                raise self._refusal(kind, value, offset)
            self.kinds.append(kind)
            self.values.append(value)
            self.offsets.append(offset)
        old = at - _CHUNK
        if old > self._forgotten:
            self.values[self._forgotten : old] = [""] * (old - self._forgotten)
            self._forgotten = old
        return sys.maxsize if self.kinds[-1] == "end" else len(self.kinds) - _AHEAD

    def _unquote(self, quoted: str, offset: int) -> str:
        body = quoted[1:-1]
        if "\\" not in body:
            return body

        def character(match: re.Match[str]) -> str:
            code, plain = match.groups()
            if code is not None and int(code, 16) <= 0x10FFFF:
                return chr(int(code, 16))
            if plain in _PLAIN_ESCAPES:
                return _PLAIN_ESCAPES[plain]
            raise self.error_at(
                offset + 1 + match.start(),
                f"unknown escape `{clip(match.group())}`.",
                fix='use \\n, \\r, \\t, \\\\, \\`, \\" or \\u{…} with up to six hexadecimal digits.',
            )

        plain, last = StringIO(), 0  # as `sub` would, which keeps every piece until the end
        for match in _ESCAPE.finditer(body):
            plain.write(body[last : match.start()])
            plain.write(character(match))
            last = match.end()
        plain.write(body[last:])
        return plain.getvalue()

    def _refusal(self, kind: str, value: str, offset: int) -> ParseError:
        if kind == "malformed":
            return self.error_at(
                offset,
                f"malformed number {clip(value)}.",
                fix="write 5 for U32, 5i for I32, 0x1F in hexadecimal, f32(1.5) or u64(5) for other types.",
            )
        if kind == "comment":
            return self.error_at(offset, "this comment is never closed.", fix="end it with */.")
        if value in '`"':
            return self.error_at(
                offset,
                f"this {value} has no partner on its line.",
                fix=f"close it with {value}; write a line break inside it as \\n.",
            )
        return self.error_at(
            offset,
            f"unexpected character {value!r}.",
            fix="remove it; names with other characters than A-Z, a-z, 0-9 and _ go between backticks.",
        )

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def error_at(self, offset: int, message: str, *, fix: str) -> ParseError:
        line, column = self.place(offset)
        return ParseError(message, fix=fix, line=line, column=column, file=self.file)


class Cursor:
    """A position in the tokens, and the errors that point at it."""

    __slots__ = ("_at", "_ready", "kinds", "tokens", "values")

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.values = tokens.values
        self._ready = tokens.fill(0)
        self._at = 0

    @property
    def at(self) -> int:
        """The number of the token; that one and the next two have been read."""
        return self._at

    @at.setter
    def at(self, at: int) -> None:
        self._at = at
        if at >= self._ready:
            self._ready = self.tokens.fill(at)

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    @property
    def value(self) -> str:
        return self.values[self.at]

    def describe(self, at: int | None = None) -> str:
        """The token in words, for `expected …, found …`."""
        at = self.at if at is None else at
        kind = self.kinds[at]
        if kind == "end":
            return "the end of the text"
        if kind == "string":
            return "a string"
        return f"`{clip(self.values[at])}`"

    def error(self, message: str, *, fix: str, at: int | None = None) -> ParseError:
        return self.tokens.error_at(self.tokens.offsets[self.at if at is None else at], message, fix=fix)

    def starts_line(self) -> bool:
        """True when a line break lies between this token and the one before."""
        if self.at == 0:
            return True
        offsets = self.tokens.offsets
        return "\n" in self.tokens.text[offsets[self.at - 1] : offsets[self.at]]

    def take(self, kind: str) -> bool:
        if self.kinds[self.at] != kind:
            return False
        self.at += 1
        return True

    def expect(self, kind: str, *, context: str, fix: str) -> None:
        if not self.take(kind):
            raise self.error(f"expected `{kind}` {context}, found {self.describe()}.", fix=fix)

    def name(self, context: str) -> str:
        """A plain or quoted name."""
        kind = self.kind
        if kind != "name" and kind != "quoted":
            if kind in KEYWORDS:
                raise self.error(
                    f"expected {context}, but `{kind}` is a keyword.",
                    fix=f"write `{kind}` with the backticks to use it as a name.",
                )
            raise self.error(
                f"expected {context}, found {self.describe()}.",
                fix="write a name such as total, or any text between backticks.",
            )
        value = self.value
        self.at += 1
        return value

    def integer(self, context: str, *, fix: str, low: int | None = None, high: int | None = None) -> int:
        """A number, with a sign where `low` allows one."""
        start = self.at
        negative = low is None and self.take("-")
        if self.kind != "int":
            raise self.error(f"expected {context}, found {self.describe()}.", fix=fix)
        value = self.number(self.at)
        self.at += 1
        if (high is not None and value > high) or (low is not None and value < low):
            raise self.error(f"{clip(self.values[start])} is not {context}.", fix=fix, at=start)
        return -value if negative else value

    def number(self, at: int) -> int:
        digits = self.values[at].rstrip("i")
        if digits[:2] in ("0x", "0X"):
            digits = digits[2:].replace("_", "")
            if digits:
                return int(digits, 16)
            raise self.error("a hexadecimal number without digits.", fix="write digits after 0x.", at=at)
        if len(digits) > _MAX_DIGITS:
            raise self.error(
                f"a number of {len(digits)} digits.",
                fix="use a number that fits its type; write huge ones in hexadecimal.",
                at=at,
            )
        return int(digits.replace("_", ""))


def clip(text: str) -> str:
    """Error messages quote at most a line's worth of hostile text."""
    shown = text if len(text) <= 40 else text[:37] + "…"
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):X}}}" for c in shown)
