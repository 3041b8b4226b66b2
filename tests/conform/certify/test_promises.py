"""A certificate shows what the registry dropped since: non-laws, classes and boundaries as much as laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from vyre.conform.certify import promises
from vyre.conform.certify.promises import changes, registry_now
from vyre.conform.registry import spec, specs
from vyre.conform.suite.plan import registry_digest

DIV = "primitive.math.div"
SPEC = spec(DIV)


def first_operand(d: Any, a: Any, b: Any) -> Any:
    """Members of another class."""
    return a


DROPPED: list[tuple[dict[str, Any], str]] = [
    ({"properties": SPEC.properties[1:]}, "lost the law "),
    ({"non_laws": SPEC.non_laws[1:]}, "lost the non-law "),
    ({"classes": SPEC.classes[1:]}, f"lost the class {SPEC.classes[0].name}"),
    (
        {"boundaries": (SPEC.boundaries[0][:-1], *SPEC.boundaries[1:])},
        f"lost the boundary 0x{SPEC.boundaries[0][-1]:X} of word 0",
    ),
    ({"classes": (replace(SPEC.classes[0], contains=first_operand), *SPEC.classes[1:])}, "was changed"),
]


@pytest.mark.parametrize(("change", "message"), DROPPED)
def test_what_was_dropped_is_named(
    change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = registry_now()
    digest = registry_digest([DIV])
    fewer = [replace(s, **change) if s.id == DIV else s for s in specs()]
    monkeypatch.setattr(promises, "specs", lambda: fewer)
    monkeypatch.setattr("vyre.conform.suite.plan.specs", lambda: fewer)
    now = promises.registry_now.__wrapped__()
    (found,) = changes(then, now)
    assert found.startswith(f"{DIV} {message}")
    assert registry_digest([DIV]) != digest or "law" in message


def test_what_was_gained_is_named_too() -> None:
    now = registry_now()
    first = now.ops[0]
    then = replace(now, ops=(replace(first, classes=first.classes[1:]), *now.ops[1:]))
    assert changes(then, now) == [f"{first.id} gained the class {first.classes[0]}"]
    assert changes(now, now) == []
