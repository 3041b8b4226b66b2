"""Text, wire bytes and lowered text of 500 programs are what they were, and so is what a seed generates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pins.doors import (
    LANGUAGES,
    Program,
    VyreError,
    check,
    decode,
    encode,
    generated,
    lower,
    meaning_digest,
    parse_program,
    print_program,
)
from tests.pins.pinned import HOW_TO_UPDATE, differing, short_digest
from tests.pins.programs import kept

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_FORMS: dict[str, Callable[[Program], bytes | str]] = {
    "text": print_program,
    "wire": encode,
    "meaning": meaning_digest,
}


def lowered(program: Program, language: str) -> str:
    """The digest of the source, or what is refused."""
    try:
        return short_digest(lower(program, language).text)
    except VyreError as refusal:
        return f"{type(refusal).__name__}: {getattr(refusal, 'op', '')}"


def told(kind: str, names: Sequence[str]) -> str:
    """Which programs differ, and the shortest of them."""
    programs = [print_program(kept()[name]) for name in names if name in kept()]
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return "\n".join(
        (f"{kind} differs for {len(names)}: {listed}", *sorted(programs, key=len)[:1], HOW_TO_UPDATE)
    )


def test_there_are_500_valid_programs() -> None:
    assert len(kept()) >= 500
    for program in kept().values():
        check(program, allow_reserved=True)


@pytest.mark.parametrize("form", _FORMS)
def test_programs_have_the_same_bytes(form: str, update_golden: bool) -> None:
    found = {name: short_digest(_FORMS[form](program)) for name, program in kept().items()}
    names = differing(form, found, update=update_golden)
    assert not names, told(form, names)


def test_programs_come_back_from_both_forms() -> None:
    for name, program in kept().items():
        assert decode(encode(program)) == program, name
        assert parse_program(print_program(program)) == program, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_programs_lower_to_the_same_text(language: str, update_golden: bool) -> None:
    found = {name: lowered(program, language) for name, program in kept().items()}
    names = differing(language, found, update=update_golden)
    assert not names, told(language, names)


def test_a_seed_generates_the_same_program(update_golden: bool) -> None:
    """New operators and library ops are drawn as well, so adding one changes these and no other pin."""
    found = {
        f"seed {seed} of {kind}": short_digest(print_program(generated(kind, seed, statements=7)))
        for kind in ("integer", "float", "function", "approximate")
        for seed in range(10)
    }
    names = differing("generator", found, update=update_golden)
    assert not names, told("what is generated", names)


def test_a_changed_digest_a_lost_one_and_a_new_one_are_named(tmp_path: Path) -> None:
    assert differing("some", {"a": "1", "b": "2", "c": "3"}, update=True, folder=tmp_path) == []
    assert differing("some", {"a": "1", "b": "9", "d": "4"}, folder=tmp_path) == ["b", "c", "d"]
