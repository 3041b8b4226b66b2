"""The V-codes as data: `rules.toml` is the one table; `explain`, the docs and the tests read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from vyre.errors import VyreError
from vyre.slotted import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One permanent rule. `example` breaks it and nothing else; `near_miss` differs little and passes.

    Both are programs in the text form, preceded by the ops they need, or graphs of tensors. Where
    `generated`, the text is abridged and `tests/validate/examples.py` builds the program. A `note` says what
    newer forms of the language mean to a rule whose text is published.
    """

    code: str
    title: str
    meaning: str
    fix: str
    example: str
    near_miss: str
    deprecated: str | None = None
    generated: bool = False
    note: str | None = None

    @property
    def is_about_graphs(self) -> bool:
        return self.example.startswith("vyre graph ")


@cache
def _table() -> dict[str, Rule]:
    """Read on first use, so that checking a program does not wait for the prose."""
    import tomllib
    from importlib.resources import files

    text = files("vyre.validate").joinpath("rules.toml").read_text(encoding="utf-8")
    return {code: _rule(code, row) for code, row in tomllib.loads(text).items()}


def _rule(code: str, row: dict[str, str | bool]) -> Rule:
    def prose(key: str) -> str:
        return " ".join(str(row[key]).split())

    return Rule(
        code,
        prose("title"),
        prose("meaning"),
        prose("fix"),
        str(row["example"]),
        str(row["near_miss"]),
        prose("deprecated") if "deprecated" in row else None,
        bool(row.get("generated", False)),
        prose("note") if "note" in row else None,
    )


class _Codes(Mapping[str, Rule]):
    """Every rule by code, in the order of the numbers."""

    def __getitem__(self, code: str) -> Rule:
        return _table()[code]

    def __iter__(self) -> Iterator[str]:
        return iter(_table())

    def __len__(self) -> int:
        return len(_table())


CODES: Mapping[str, Rule] = _Codes()


def explain(code: str) -> str:
    """A page about one code for the terminal; `v23` finds V023."""
    wanted = code.strip().upper()
    if wanted[:1] == "V" and wanted[1:].isdecimal() and len(wanted) < 10:
        wanted = f"V{int(wanted[1:]):03}"
    rule = CODES.get(wanted)
    if rule is None:
        from difflib import get_close_matches

        close = get_close_matches(wanted, CODES, n=3)
        hint = f"did you mean {', '.join(close)}? " if close else ""
        raise VyreError(
            f"there is no rule {code[:40]!r}.", fix=f"{hint}`vyre explain` without a code lists all rules."
        )
    return _page(rule)


def _page(rule: Rule) -> str:
    parts = [f"{rule.code}: {rule.title}"]
    if rule.deprecated:
        parts.append(f"Deprecated: {rule.deprecated}")
    parts += [
        _fill(rule.meaning),
        *([_fill(f"Note: {rule.note}")] if rule.note else []),
        f"This {'graph' if rule.is_about_graphs else 'program'} breaks the rule:",
        _indent(rule.example),
        _fill(f"Fix: {rule.fix}"),
        "This one passes:",
        _indent(rule.near_miss),
    ]
    return "\n\n".join(parts) + "\n"


def _fill(text: str) -> str:
    from textwrap import fill

    return fill(text, 88, break_on_hyphens=False, break_long_words=False)


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.rstrip("\n").split("\n"))
