"""The backend that a target names: an entry point, or `module:Class` of somebody's own."""

from __future__ import annotations

import importlib

from vyre.backends.protocol import Backend
from vyre.errors import DispatchError


def load(target: str) -> Backend:
    """Constructed without arguments. Raises `DispatchError` where the class is missing or not a backend."""
    if ":" not in target:
        from vyre.backends import get

        return get(target)
    module, _, name = target.partition(":")
    try:
        made: object = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise DispatchError(
            f"no backend class at {target!r}: {error}.",
            fix="name it as module:Class, importable from where you are.",
        ) from None
    if not isinstance(made, Backend):
        raise DispatchError(
            f"{target} is not a Backend.", fix="give it `name`, `describe()` and `compile(program)`."
        )
    return made
