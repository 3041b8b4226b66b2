"""Bytes written once are readable for ever, and together the golden files use every tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.add_golden import GOLDEN, add_missing
from tests.wire.wire_programs import golden_programs
from tests.wire.wire_source import read, source
from vyre.ir.walk import expressions, statements
from vyre.wire import decode, encode, tags
from vyre.wire.layout import EXPR_LAYOUTS, TAG

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.ir import Expr, Node, Program

FILES = sorted(path.stem for path in GOLDEN.glob("*.bin"))


@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_holds_its_program_and_is_written_the_same_today(name: str) -> None:
    data = (GOLDEN / f"{name}.bin").read_bytes()
    expected = read((GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))
    assert decode(data) == expected
    assert encode(expected) == data


def used_tags(program: Program) -> set[str]:
    """The names of all tags in a program, as `tags.all_tags` gives them."""
    used: set[str] = set()

    def note(group: str, member: Any) -> None:
        used.add(f"{group}.{member.__name__ if isinstance(member, type) else member.name}")

    groups = {id(table): group for group, table in tags.TABLES.items()}
    for buffer in program.buffers:
        note("access", buffer.access)
        note("type", buffer.element)
    nodes: list[Node] = [node for _, node in statements(program.entry)]
    exprs: list[Expr] = list(expressions(program.entry))
    for node in nodes:
        note("statement", type(node))
    for expr in exprs:
        note("expression", type(expr))
        for field in EXPR_LAYOUTS[type(expr)].fields:
            if field.kind == TAG:
                note(groups.get(id(field.numbers), "type"), getattr(expr, field.attribute))
    return used


def missing_tags(programs: list[Program]) -> set[str]:
    used: set[str] = set()
    return set(tags.all_tags()) - used.union(*(used_tags(program) for program in programs))


def test_the_golden_files_use_every_tag() -> None:
    assert missing_tags([decode((GOLDEN / f"{name}.bin").read_bytes()) for name in FILES]) == set()


def test_a_tag_that_no_golden_file_uses_is_noticed() -> None:
    programs = [decode((GOLDEN / f"{name}.bin").read_bytes()) for name in FILES if name != "calls"]
    assert missing_tags(programs) == {"expression.Call"} - used_tags(golden_programs()["invalid"])
    few = missing_tags([golden_programs()["ids"]])
    assert {"expression.Call", "binary.FPow", "type.U128", "statement.If"} <= few


def test_every_golden_program_has_its_file() -> None:
    assert set(golden_programs()) <= set(FILES)


def test_adding_leaves_what_exists_alone(tmp_path: Path) -> None:
    kept = tmp_path / "empty.bin"
    kept.write_bytes(b"written long ago")
    added = add_missing(tmp_path)
    assert set(added) == set(golden_programs()) - {"empty"}
    assert kept.read_bytes() == b"written long ago"
    assert add_missing(tmp_path) == []


def test_the_description_of_a_golden_file_tells_programs_apart() -> None:
    for program in golden_programs().values():
        assert read(source(program)) == program
    assert read(source(golden_programs()["calls"])) != golden_programs()["ids"]
