"""What a regular expression says: the subset of `re` for bytes that an automaton can decide, parsed.

Literals, classes, `.`, `|`, groups (which capture nothing), `* + ? {m,n}` and their lazy forms, and the
anchors `^ $ \\A \\Z \\b \\B`. What `re` has beyond it is refused by name.
"""

from __future__ import annotations

import re
from typing import NoReturn

from vyre.errors import VyreError
from vyre.slotted import dataclass

ALL = (1 << 256) - 1
_WORD = sum(1 << b for b in range(128) if chr(b).isalnum() or b == ord("_"))
_DIGIT = sum(1 << b for b in range(ord("0"), ord("9") + 1))
_SPACE = sum(1 << b for b in b" \t\n\r\f\v")
WORD = _WORD
"""The bytes that `\\w` takes, bit b for byte b."""

_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_LETTERS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
_ANCHORS = {"A": "text start", "Z": "text end", "b": "edge", "B": "no edge"}
_MOST_REPEATS = 1000
_DEEPEST = 100
FLAGS = re.IGNORECASE | re.DOTALL | re.MULTILINE


@dataclass(frozen=True, slots=True)
class Bytes:
    """One byte of a set; bit b stands for byte b."""

    mask: int


@dataclass(frozen=True, slots=True)
class At:
    """A place, without a byte."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """The first of the parts that leads to a match."""

    parts: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Often:
    """`most` None is without end; greedy takes as many as it can, else as few."""

    part: Syntax
    least: int
    most: int | None
    greedy: bool


Syntax = Bytes | At | Sequence | Branches | Often


def parsed(pattern: bytes, flags: int = 0) -> Syntax:
    """The expression, or `VyreError` with the place of what it does not take."""
    if not isinstance(pattern, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError(
            f"a pattern is bytes, not {type(pattern).__name__}.", fix="write it as b'…', or encode it."
        )
    if flags & ~FLAGS:
        raise VyreError(
            f"flags {re.RegexFlag(flags & ~FLAGS)!r} are not supported.", fix="use re.I, re.S and re.M alone."
        )
    reader = _Reader(pattern.decode("latin-1"), flags)
    found = reader.choice(0)
    if reader.place < len(reader.text):
        reader.refuse("a ) closes no group", "escape it with \\, or open a group")
    return found


def may_be_empty(syntax: Syntax) -> bool:
    match syntax:
        case Bytes():
            return False
        case At():
            return True
        case Sequence(parts):
            return all(map(may_be_empty, parts))
        case Branches(parts):
            return any(map(may_be_empty, parts))
        case Often(part, least):
            return not least or may_be_empty(part)


class _Reader:
    """Reads from left to right; `place` is the next character."""

    def __init__(self, text: str, flags: int) -> None:
        self.text, self.flags, self.place = text, flags, 0

    def refuse(self, what: str, fix: str) -> NoReturn:
        raise VyreError(f"{what}, at place {self.place} of the pattern.", fix=f"{fix}.")

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.place + ahead : self.place + ahead + 1]

    def take(self, expected: str) -> bool:
        found = self.text.startswith(expected, self.place)
        self.place += len(expected) if found else 0
        return found

    def choice(self, depth: int) -> Syntax:
        if depth > _DEEPEST:
            self.refuse(f"groups are more than {_DEEPEST} deep", "write the pattern with fewer groups")
        parts = [self.sequence(depth)]
        while self.take("|"):
            parts.append(self.sequence(depth))
        return parts[0] if len(parts) == 1 else Branches(tuple(parts))

    def sequence(self, depth: int) -> Syntax:
        parts: list[Syntax] = []
        while self.peek() not in ("", "|", ")"):
            anchored = self.peek() != "("
            one = self.one(depth)
            parts.append(self.repeated(one, alone=anchored and isinstance(one, At)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self, part: Syntax, *, alone: bool) -> Syntax:
        """`alone` is an anchor without a group around it, which `re` does not repeat."""
        bounds = self.bounds()
        if bounds is None:
            return part
        least, most = bounds
        greedy = not self.take("?")
        if self.peek() in ("*", "+", "?") or self.bounds() is not None:
            self.refuse("a repeat is repeated", "put the inner one into a group (?:…)")
        if (most is not None and (most < least or most > _MOST_REPEATS)) or least > _MOST_REPEATS:
            self.refuse(
                f"a repeat of {least} to {most} times is not supported",
                f"use 0 to {_MOST_REPEATS}, the smaller one first",
            )
        if may_be_empty(part) and most != 1:
            self.refuse(
                "what is repeated can be empty",
                "let every branch of it take a byte, as (?:a|b)* for (?:a?b?)*",
            )
        if alone:
            self.refuse("an anchor is repeated", "put it into a group (?:…), or leave the repeat out")
        return Often(part, least, most, greedy)

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, found in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return found
        counted = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}").match(self.text, self.place)
        if counted is None or not (counted[1] or counted[2]):
            return None  # a brace that counts nothing is a brace
        self.place = counted.end()
        least = int(counted[1] or 0)
        return least, (int(counted[3]) if counted[3] else None) if counted[2] else least

    def one(self, depth: int) -> Syntax:
        sign, begin = self.peek(), self.place
        if self.bounds() is not None:
            sign, self.place = self.text[begin : self.place], begin
            self.refuse(f"{sign} repeats nothing", "escape it with \\, or put something before it")
        if sign == "\\":
            return self.escaped()
        if sign == "[":
            return Bytes(self.bracketed())
        self.place += 1
        many = bool(self.flags & re.MULTILINE)
        match sign:
            case "(":
                return self.group(depth)
            case ".":
                return Bytes(ALL if self.flags & re.DOTALL else ALL & ~(1 << 10))
            case "^":
                return At("line start" if many else "text start")
            case "$":
                return At("line end" if many else "last line end")
            case _:
                return Bytes(self.cased(1 << ord(sign)))

    def group(self, depth: int) -> Syntax:
        if self.peek() == "?" and not self.take("?:"):
            named = re.compile(r"\?P<[A-Za-z_]\w*>", re.ASCII).match(self.text, self.place)
            if named is None:
                self.refuse("a group of this kind is not supported", "use (…), (?:…) or (?P<name>…)")
            self.place = named.end()
        found = self.choice(depth + 1)
        if not self.take(")"):
            self.refuse("a group is not closed", "close it with )")
        return found

    def escaped(self) -> Syntax:
        kind = _ANCHORS.get(self.peek(1))
        if kind is not None:
            self.place += 2
            return At(kind)
        return Bytes(self.cased(self.escape()[0]))

    def escape(self) -> tuple[int, int | None]:
        """The set of an escape, and its byte where it is one."""
        letter = self.peek(1)
        if letter.lower() in _CLASSES:
            self.place += 2
            found = _CLASSES[letter.lower()]
            return (found if letter.islower() else ALL & ~found), None
        digits = re.compile(r"\\x([0-9A-Fa-f]{2})|\\(0)(?![0-7])").match(self.text, self.place)
        if digits is not None:
            self.place = digits.end()
            byte = int(digits[1] or "0", 16)
        elif letter in _LETTERS:
            self.place += 2
            byte = _LETTERS[letter]
        elif not letter or (letter.isascii() and letter.isalnum()):
            self.refuse(
                f"\\{letter} is not supported", "write bytes as \\xhh; there are no references to groups"
            )
        else:
            self.place += 2
            byte = ord(letter)
        return 1 << byte, byte

    def bracketed(self) -> int:
        self.place += 1
        negated, mask, first = self.take("^"), 0, True
        while first or self.peek() != "]":
            first = False
            one, low = self.member()
            if self.peek() == "-" and self.peek(1) not in ("]", ""):
                self.place += 1
                _, high = self.member()
                if low is None or high is None or high < low:
                    self.refuse(
                        "the ends of a range are out of order", "write the smaller byte first, and no classes"
                    )
                one = (1 << high + 1) - (1 << low)
            mask |= one
        self.place += 1
        mask = self.cased(mask)
        return ALL & ~mask if negated else mask

    def member(self) -> tuple[int, int | None]:
        sign = self.peek()
        if not sign:
            self.refuse("a class is not closed", "close it with ]")
        if sign == "\\":
            if self.take("\\b"):
                return 1 << 8, 8
            return self.escape()
        self.place += 1
        return 1 << ord(sign), ord(sign)

    def cased(self, mask: int) -> int:
        """The set with the other case of its ASCII letters, where that is asked for."""
        if self.flags & re.IGNORECASE:
            upper = (mask >> 65 & (1 << 26) - 1) | (mask >> 97 & (1 << 26) - 1)
            mask |= upper << 65 | upper << 97
        return mask
