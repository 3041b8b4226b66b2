"""Older records, with what their dataclasses have gained since."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast, get_args, get_origin, get_type_hints


def filled(cls: Any, value: Any) -> Any:
    """A record with the fields that its dataclass has gained since, at their defaults."""
    if is_dataclass(cls):
        if not isinstance(value, dict):
            return value
        record = dict(cast("dict[str, Any]", value))
        hints = get_type_hints(cls)
        for field in fields(cls):
            if field.name in record:
                record[field.name] = filled(hints[field.name], record[field.name])
            elif field.default is not MISSING:
                record[field.name] = _plain(field.default)
            elif field.default_factory is not MISSING:
                record[field.name] = _plain(field.default_factory())
        return record
    if get_origin(cls) is tuple and isinstance(value, list):
        items, kinds = cast("list[Any]", value), get_args(cls)
        if kinds[-1] is Ellipsis:
            return [filled(kinds[0], item) for item in items]
    return cast("Any", value)


def _plain(value: Any) -> Any:
    """A default as it is written in JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return [_plain(v) for v in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value
