"""Whether two certificates of one backend, made on one machine, say the same.

    same("before.json", "after.json")        the fields that differ; none where only the code was changed
    python -m tests.pins.certificate before.json after.json

Left out are the digest of the code and what is computed over it: its section's digest, and a signature. Times
are in no certificate.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEFT_OUT = {"predicate.code", "predicate.digests.code"}
_NAMES = ("id", "law", "track", "level", "stage", "subject", "engine", "invariant", "kind", "name", "word")
_MISSING = object()


def same(before: Path | str, after: Path | str) -> list[str]:
    """Every field that differs, as `predicate.plan.cases: 16, now 17`."""
    return list(_differences("", _statement(before), _statement(after)))


def _statement(path: Path | str) -> Any:
    """The Statement in a file, taken out of its envelope where it is signed."""
    record = json.loads(Path(path).read_bytes())
    return json.loads(base64.b64decode(record["payload"])) if "payload" in record else record


def _differences(place: str, before: Any, after: Any) -> Iterator[str]:
    if place in _LEFT_OUT:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        for key in {**old, **new}:
            inner = f"{place}.{key}" if place else key
            yield from _differences(inner, old.get(key, _MISSING), new.get(key, _MISSING))
    elif isinstance(before, list) and isinstance(after, list):
        old, new = _by_name(cast("list[Any]", before)), _by_name(cast("list[Any]", after))
        for key in {**old, **new}:
            yield from _differences(f"{place}[{key}]", old.get(key, _MISSING), new.get(key, _MISSING))
        if list(old) != list(new) and set(old) == set(new):
            yield f"{place}: the order of {len(old)} entries differs"
    elif (old_text := _text(before)) != (new_text := _text(after)):
        yield f"{place}: {_short(old_text)}, now {_short(new_text)}"


def _by_name(entries: list[Any]) -> dict[str, Any]:
    """Entries by what they call themselves, so that one more does not shift all others; else by position."""
    names = [_name(entry) for entry in entries]
    unique = None not in names and len(set(names)) == len(names)
    return {
        str(name if unique else at): entry
        for at, (name, entry) in enumerate(zip(names, entries, strict=True))
    }


def _name(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return None
    record = cast("dict[str, Any]", entry)
    return next((str(record[key]) for key in _NAMES if key in record), None)


def _text(value: Any) -> str:
    return "nothing" if value is _MISSING else json.dumps(value)


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:120]}…"


def main(words: list[str]) -> int:
    if len(words) != 2:
        print("usage: python -m tests.pins.certificate BEFORE AFTER", file=sys.stderr)
        return 2
    found = same(*words)
    print("\n".join(found) or "the same")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
