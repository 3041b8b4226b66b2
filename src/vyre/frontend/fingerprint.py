"""What a kernel is translated from, told in full: two functions with the same text become the same program.

    told(function, size, names)     that text, and where the functions stand, or None

The text holds the source of the function and of every function that it calls, their annotations and defaults,
and the value of each name that they see from outside: numbers, sequences and arrays by their contents,
functions and classes of Python, NumPy and vyre by their names. What vyre makes of all this follows from its
own files and Python's version, which are not told here (`vyre.backends.cpu.place`). A function that refers to
anything else has no fingerprint.
"""

from __future__ import annotations

import ast
import builtins
import struct
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from vyre.frontend.source import names_of, source_at_hand
from vyre.frontend.types import BufferAnnotation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vyre.frontend.source import Source

_MOST_FUNCTIONS = 64
_MOST_ITEMS = 4096
_MOST_BYTES = 1 << 20
_KNOWN = ("builtins", "math", "numpy", "typing", "vyre")
"""Packages whose functions and classes are what their names say."""
_PLAIN = (type(None), bool, int, str, bytes)


class Standing(NamedTuple):
    """Where a function stands: its file, its first line and how many there are."""

    file: str
    line: int
    lines: int


class Fingerprint(NamedTuple):
    text: str
    standing: tuple[Standing, ...]
    """Of the kernel and of the functions it calls, in the order of the text. They change no meaning."""


class _Untold(Exception):
    """Something whose contents cannot be told."""


def told(function: Any, size: tuple[int, int, int], names: Mapping[str, Any]) -> Fingerprint | None:
    """`names` are those that annotations see beside the function's own."""
    telling = _Telling()
    try:
        telling.function(function, names)
        done = 0
        while done < len(telling.functions):
            telling.tell(*telling.functions[done])
            done += 1
        return Fingerprint(repr((size, telling.parts)), tuple(telling.standing))
    except (_Untold, RecursionError, SyntaxError, ValueError):
        return None


class _Telling:
    """A text that grows by a part for each function."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, ...]] = []
        self.standing: list[Standing] = []
        self.functions: list[tuple[FunctionType, Mapping[str, Any]]] = []

    def function(self, function: Any, outer: Mapping[str, Any]) -> tuple[str, int]:
        """The number of a function, which is told in its turn."""
        for number, (known, _) in enumerate(self.functions):
            if known is function:
                return "function", number
        plain = type(function) is FunctionType and function.__name__ != "<lambda>" and not vars(function)
        if not plain or len(self.functions) == _MOST_FUNCTIONS:
            raise _Untold
        self.functions.append((function, outer))
        return "function", len(self.functions) - 1

    def tell(self, function: FunctionType, outer: Mapping[str, Any]) -> None:
        source = source_at_hand(function)
        if source is None:
            raise _Untold
        seen = {**outer, **names_of(function)}
        annotations = function.__annotations__
        texts = [text for text in annotations.values() if isinstance(text, str)]
        trees: list[ast.AST] = [source.tree, *(ast.parse(text, mode="eval") for text in texts)]
        for annotation in trees[1:]:
            _refuse_calls(annotation)
        names = {
            shown: self.value(value)
            for tree in trees
            for shown, value in _seen(tree, seen, _hidden(source) if tree is source.tree else frozenset())
        }
        self.standing.append(Standing(function.__code__.co_filename, source.first_line, len(source.lines)))
        self.parts.append(
            (
                function.__name__,
                source.lines,
                [(name, self.value(found)) for name, found in annotations.items()],
                self.value(function.__defaults__),
                sorted(names.items()),
            )
        )

    def value(self, value: Any) -> Any:
        """Numbers and texts from which one can tell the value."""
        kind = cast("type[Any]", type(value))
        if kind in _PLAIN:
            return value
        if kind is float:
            return "float", struct.pack("<d", value)
        if kind is tuple or kind is list:
            if len(value) > _MOST_ITEMS:
                raise _Untold
            return kind.__name__, [self.value(x) for x in value]
        if kind is BufferAnnotation:
            return "buffer", value.role.value, *map(self.value, (value.element, value.count, value.shape))
        if kind.__module__ == "numpy":
            found = _array(value)
            if found is not None:
                return found
        name = _known_name(value)
        if name is not None:
            return name
        if kind is FunctionType:
            return self.function(value, {})
        raise _Untold


def _hidden(source: Source) -> frozenset[str]:
    """The names that mean something of the function's own wherever they stand in its body."""
    nested = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.comprehension)
    if any(isinstance(node, nested) and node is not source.tree for node in ast.walk(source.tree)):
        return frozenset()
    return frozenset(source.function.__code__.co_varnames)


def _seen(tree: ast.AST, names: Mapping[str, Any], hidden: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """What a tree names from outside, by how it names it: `N`, `math.pi`. Its decorators have no meaning."""
    pending: list[tuple[ast.AST, frozenset[str]]] = [(tree, hidden)]
    while pending:
        node, own = pending.pop()
        path: list[str] = []
        end = node
        while isinstance(end, ast.Attribute):
            path.append(end.attr)
            end = end.value
        if isinstance(end, ast.Name):
            if end.id in names and end.id not in own:
                yield _resolved(end.id, names[end.id], path[::-1])
            continue
        for field, value in ast.iter_fields(node):
            if field == "decorator_list" and node is tree:
                continue
            found = cast("list[Any]", value) if isinstance(value, list) else [value]
            children = [x for x in found if isinstance(x, ast.AST)]
            if field in ("annotation", "returns") and isinstance(value, ast.AST):
                # It is read in the names around the function, whatever its own are called.
                _refuse_calls(value)
                pending += [(child, frozenset[str]()) for child in children]
            else:
                pending += [(child, own) for child in children]


def _refuse_calls(annotation: ast.AST) -> None:
    if any(isinstance(node, (ast.Call, ast.Lambda, ast.Await)) for node in ast.walk(annotation)):
        raise _Untold


def _resolved(name: str, value: Any, path: list[str]) -> tuple[str, Any]:
    """The first thing on the path that is not a module; what comes behind it is in its contents."""
    shown = name
    for attribute in path:
        if not isinstance(value, ModuleType):
            break
        shown = f"{shown}.{attribute}"
        if value is sys.modules["vyre"] and _is_own(value, attribute):
            return shown, "as vyre has it"
        try:
            value = getattr(value, attribute)
        except AttributeError:
            raise _Untold from None
    if isinstance(value, ModuleType):
        raise _Untold
    return shown, value


def _is_own(vyre: ModuleType, name: str) -> bool:
    """Whether a public name is what vyre itself has under it, loaded already or not."""
    home = vyre._HOME_OF.get(name)
    if home is None or name not in vars(vyre):
        return home is not None
    return getattr(sys.modules.get(home), name, None) is vars(vyre)[name]


def _known_name(value: Any) -> str | None:
    """The full name of a function or class that is found under it where everybody finds it."""
    if not isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        special = getattr(value, "_name", None)
        found = isinstance(special, str) and getattr(sys.modules.get("typing"), special, None) is value
        return f"typing.{special}" if found else None
    module, name = getattr(value, "__module__", None), value.__qualname__
    if not isinstance(module, str) or module.partition(".")[0] not in _KNOWN or "." in name:
        return None
    home = builtins if module == "builtins" else sys.modules.get(module)
    return f"{module}.{name}" if getattr(home, name, None) is value else None


def _array(value: Any) -> tuple[Any, ...] | None:
    """An array or number of NumPy by its bytes."""
    numpy = sys.modules["numpy"]
    if type(value) is not numpy.ndarray and not isinstance(value, numpy.generic):
        return None
    if value.dtype.hasobject or value.nbytes > _MOST_BYTES:
        raise _Untold
    return "array", value.dtype.descr, value.dtype.str, value.shape, value.tobytes()
