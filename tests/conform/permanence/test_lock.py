"""The lock holds today, and every kind of breach is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from vyre.conform.oracle.golden import load_rows
from vyre.conform.permanence import lock
from vyre.conform.permanence.lock import (
    Breach,
    Promises,
    collect,
    compare,
    definition_digest,
    extended,
    read_lock,
)
from vyre.conform.registry import spec, specs
from vyre.conform.spec.law import label
from vyre.errors import VyreError
from vyre.ir.expr import Var
from vyre.ops import standard_ops

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GROUPS = (
    *("golden", "cast", "type", "operator", "limit", "wire", "code", "op", "spec", "law", "non_law"),
    *("class", "boundary"),
)


@pytest.fixture(scope="module")
def promises() -> Promises:
    return collect()


def test_every_promise_holds() -> None:
    assert [str(finding) for finding in lock.check()] == []


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_is_locked(group: str) -> None:
    assert any(name.startswith(f"{group}/") for name in read_lock())


@pytest.mark.parametrize("group", GROUPS)
def test_a_changed_or_removed_promise_is_red(group: str, promises: Promises) -> None:
    name = next(n for n in promises if n.startswith(f"{group}/"))
    changed = compare(read_lock(), {**promises, name: "something else"})
    assert [(f.breach, f.name) for f in changed] == [(Breach.Changed, name)]
    removed = compare(read_lock(), {n: v for n, v in promises.items() if n != name})
    assert [(f.breach, f.name) for f in removed] == [(Breach.Removed, name)]


DIV = "primitive.math.div"


def first_operand(d: Any, a: Any, b: Any) -> Any:
    """Members of another class."""
    return a


DROPPED: list[tuple[dict[str, Any], str]] = [
    ({"non_laws": spec(DIV).non_laws[1:]}, f"non_law/{DIV}/{label(spec(DIV).non_laws[0].law)} was removed"),
    ({"classes": spec(DIV).classes[1:]}, f"class/{DIV}/{spec(DIV).classes[0].name} was removed"),
    (
        {"boundaries": (spec(DIV).boundaries[0][1:], *spec(DIV).boundaries[1:])},
        f"boundary/{DIV}/0 was changed",
    ),
    (
        {"classes": (replace(spec(DIV).classes[0], contains=first_operand), *spec(DIV).classes[1:])},
        f"class/{DIV}/{spec(DIV).classes[0].name} was changed",
    ),
]


@pytest.mark.parametrize(("change", "message"), DROPPED)
def test_what_a_spec_drops_is_red(
    change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = [replace(s, **change) if s.id == DIV else s for s in specs()]
    monkeypatch.setattr("vyre.conform.registry.own_specs", lambda: fewer)
    (finding,) = lock.check()
    assert str(finding).startswith(message)


def test_a_new_boundary_is_to_be_locked(promises: Promises) -> None:
    name = f"boundary/{DIV}/0"
    more = {**promises, name: f"{promises[name]} 1234567"}
    (finding,) = compare(read_lock(), more)
    assert (finding.breach, finding.name) == (Breach.Unlocked, name)
    assert extended(read_lock(), more)[name].endswith("1234567")


def test_an_edited_golden_row_is_red(promises: Promises) -> None:
    row = next(r for r in load_rows() if r.id == "primitive.math.div/golden/2")
    edited = replace(row, fields={**row.fields, "expected": "0xFFFFFFFF"})
    now = {**promises, f"golden/{row.id}": edited.digest()[:16]}
    (finding,) = compare(read_lock(), now)
    assert finding.breach is Breach.Changed
    assert "primitive.math.div/golden/2 was changed" in str(finding)


def test_a_reworded_note_is_no_breach() -> None:
    row = load_rows()[0]
    assert replace(row, note="other words", sources=()).digest() == row.digest()


def test_an_edited_op_is_red_and_a_renamed_parameter_is_not() -> None:
    op = next(o for o in standard_ops() if o.id == "primitive.math.sub")
    assert op.result is not None
    first, second = op.params
    other_names = replace(
        op,
        params=(replace(first, name="x"), replace(second, name="y")),
        result=Var("x") - Var("y"),
        doc="other words",
    )
    assert definition_digest(other_names) == definition_digest(op)
    swapped = replace(op, result=Var(second.name) - Var(first.name))
    assert definition_digest(swapped) != definition_digest(op)


def test_a_new_promise_is_reported_and_can_be_locked(promises: Promises) -> None:
    grown = {**promises, "golden/new.row/golden/1": "0123456789abcdef"}
    (finding,) = compare(read_lock(), grown)
    assert str(finding) == "golden/new.row/golden/1 is not yet locked."
    assert compare(extended(read_lock(), grown), grown) == []


@pytest.mark.parametrize("change", [{"type/U32": "5 bytes, 1 lanes"}, {"type/U32": None}])
def test_an_update_refuses_to_change_or_remove(change: Mapping[str, str | None], promises: Promises) -> None:
    now = {n: v for n, v in {**promises, **change}.items() if v is not None}
    with pytest.raises(VyreError, match=r"1 promises are broken: type/U32 was .* Fix: restore it"):
        extended(read_lock(), now)


def test_the_file_has_one_promise_a_line() -> None:
    text = lock.render_lock({"type/U32": "4 bytes", "cast/U32->I32": "Bitcast", "type/I32": "4 bytes"})
    assert '"I32": "4 bytes",\n"U32": "4 bytes"\n' in text


@pytest.fixture
def lock_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock file of its own for the command, so that the committed one is never written."""
    path = tmp_path / lock.LOCK_FILE

    def folder(_: str) -> Path:
        return tmp_path

    monkeypatch.setattr(lock, "files", folder)
    monkeypatch.setattr(lock, "__file__", str(tmp_path / "lock.py"))
    return path


def test_the_command(lock_in: Path, capsys: pytest.CaptureFixture[str], promises: Promises) -> None:
    assert lock.main(["--update"]) == 0
    assert lock_in.read_text(encoding="utf-8") == lock.render_lock(promises)
    assert lock.main([]) == 0
    lock_in.write_text(lock.render_lock({**promises, "type/U32": "5 bytes"}), encoding="utf-8")
    assert lock.main([]) == 1
    assert lock.main(["--update"]) == 1
    assert "type/U32 was changed from 5 bytes to 4 bytes, 1 lanes." in capsys.readouterr().out
    assert '"U32": "5 bytes"' in lock_in.read_text(encoding="utf-8")
