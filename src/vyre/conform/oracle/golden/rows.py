"""The golden rows as data: what they are, where they come from, and how they are read.

Every row has a permanent id (`primitive.math.div/golden/2`), a kind that says how it is replayed, and the
places of the specification it answers for (`000/Div/2`: document, section, row). What the documents ask of
the conformance system itself is answered by tests, by name in `shown.json`; what is not there yet stands in
`later.json` with the reason. `tables.json` is the manifest of the documents: a digest for every row.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from vyre.conform.oracle.golden.formula import evaluate, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vyre.ir.types import DataType

Value = int | str | list[int | str]
"""A number, a formula, or the lanes of a wide value (lane 0 first)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One permanent promise. `fields` are what its kind needs; `note` may be reworded, the rest may not."""

    id: str
    kind: str
    fields: Mapping[str, Any]
    sources: tuple[str, ...] = ()
    note: str = ""

    @property
    def stem(self) -> str:
        """What the row is about: an op id where the library has the op."""
        return self.id.partition("/golden/")[0]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def digest(self) -> str:
        """Of everything that is promised: id, kind and fields."""
        text = json.dumps([self.id, self.kind, dict(self.fields)], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Later:
    """A row of the documents that no golden row answers for yet."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of the documents that tests answer for: each shows it, or that its breach is noticed."""

    source: str
    tests: tuple[str, ...]


@cache
def load_rows() -> tuple[Row, ...]:
    """Every golden row, file by file in the order of their names."""
    folder = files("vyre.conform.oracle.golden") / "data"
    paths = sorted((p for p in folder.iterdir() if p.name.endswith(".json")), key=lambda p: p.name)
    return tuple(row for path in paths for row in _read(path.read_text(encoding="utf-8")))


def _read(text: str) -> Iterator[Row]:
    for entry in json.loads(text)["rows"]:
        fields = {k: v for k, v in entry.items() if k not in ("id", "kind", "sources", "note")}
        yield Row(entry["id"], entry["kind"], fields, tuple(entry.get("sources", ())), entry.get("note", ""))


@cache
def load_later() -> tuple[Later, ...]:
    """The rows of the documents that wait for later work."""
    return tuple(Later(source, reason) for source, reason in _json("later.json").items())


@cache
def load_shown() -> tuple[Shown, ...]:
    """The rows of the documents that tests answer for."""
    return tuple(Shown(source, tuple(tests)) for source, tests in _json("shown.json").items())


def load_tables() -> dict[str, list[str]]:
    """The manifest of the documents' tables: name, and a digest of every row."""
    return dict(_json("tables.json"))


def _json(name: str) -> dict[str, Any]:
    return json.loads((files("vyre.conform.oracle.golden") / name).read_text(encoding="utf-8"))


def variables(value: Value) -> frozenset[str]:
    """The names in a value: a row with any is a statement about every value of them."""
    if isinstance(value, list):
        return frozenset[str]().union(*(variables(lane) for lane in value))
    return names(value) if isinstance(value, str) else frozenset()


def bits_of(value: Value, of: DataType, bound: Mapping[str, int]) -> int:
    """The bits of a value of a type, its variables replaced by numbers."""
    if isinstance(value, list):
        return sum((number(lane, bound) & 0xFFFF_FFFF) << (32 * i) for i, lane in enumerate(value))
    return number(value, bound) & ((1 << of.bits) - 1)


def number(value: int | str, bound: Mapping[str, int]) -> int:
    return evaluate(value, bound) if isinstance(value, str) else value
