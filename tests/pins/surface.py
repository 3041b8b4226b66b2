"""What a user can name: public names with their members and parameters, and the command line's options.

names() -> {"vyre.Program", "vyre.Program.to_text", "vyre.dispatch(backend)", …}
commands() -> {"certify", "certify --cases", "laws --tier=proved", "lower FILE", …}
"""

from __future__ import annotations

import enum
import importlib
import inspect
from typing import TYPE_CHECKING, Any, cast

import click

import vyre
from tests.pins.doors import command_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULES = ("vyre", "vyre.ir", "vyre.compose", "vyre.errors", "vyre.engines")


def names() -> set[str]:
    """Every public name, and what can be said of it in a program: members of classes, names of parameters."""
    found = {f"vyre.{name}" for name in ("__version__", "engines") if hasattr(vyre, name)}
    seen: set[int] = set()
    for module in MODULES:
        home = importlib.import_module(module)
        for name in _exported(home):
            value = getattr(home, name)
            found.add(f"{module}.{name}")
            if id(value) not in seen:  # members are listed once, under the shortest name
                seen.add(id(value))
                found.update(f"{module}.{name}{member}" for member in _members(value))
    return found


def _exported(home: ModuleType) -> list[str]:
    # A star import leaves out what would shadow a builtin, which is public all the same.
    listed: list[str] | None = list(vars(home).get("_HOME_OF", ())) or getattr(home, "__all__", None)
    if listed is not None:
        return listed
    return [n for n, v in vars(home).items() if inspect.isclass(v) and v.__module__ == home.__name__]


def _members(value: Any) -> Iterator[str]:
    yield from (f"({p})" for p in _parameters(value))
    if not inspect.isclass(value):
        return
    if issubclass(value, enum.Enum):
        yield from (f".{name}" for name in value.__members__)
    for base in value.__mro__:
        if base.__module__.partition(".")[0] != "vyre":  # what Python's own classes have differs by version
            continue
        for name in (*vars(base), *vars(base).get("__annotations__", {})):
            if not name.startswith("_"):
                yield f".{name}"
                yield from (f".{name}({p})" for p in _parameters(vars(base).get(name)))


def _parameters(value: Any) -> list[str]:
    """Names by which arguments can be passed; of anything that is not called, none."""
    if isinstance(value, classmethod | staticmethod):
        return _parameters(cast("Any", value).__func__)
    builtin = inspect.isclass(value) and (issubclass(value, enum.Enum) or value.__init__ is object.__init__)
    if not callable(value) or builtin:
        return []
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in found if p.kind in named and p.name not in ("self", "cls")]


def commands() -> set[str]:
    """Every command with its arguments and options, and the words that an option is limited to."""
    top = click.Context(command_line, **command_line.context_settings)
    found = {word for p in command_line.get_params(top) for word in _words(p)}
    for name in command_line.list_commands(top):
        command = command_line.get_command(top, name)
        assert command is not None, name
        context = click.Context(command, parent=top, **command.context_settings)
        found.add(name)
        found.update(f"{name} {word}" for p in command.get_params(context) for word in _words(p))
    return found


def _words(parameter: click.Parameter) -> Iterator[str]:
    if isinstance(parameter, click.Argument):
        yield (parameter.name or "").upper()
        return
    for option in (*parameter.opts, *parameter.secondary_opts):
        yield option
        if isinstance(parameter.type, click.Choice):
            yield from (f"{option}={choice}" for choice in cast("Any", parameter.type).choices)
