"""The source of a Python function: its syntax tree, and where each part stands in the user's file."""

from __future__ import annotations

import ast
import builtins
import linecache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from vyre.errors import KernelError, SourceLocation
from vyre.frontend.warned import warn_at
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Source:
    """A function and its tree. Lines of the tree count from the start of `lines`."""

    function: Any
    tree: ast.FunctionDef
    lines: tuple[str, ...]
    first_line: int

    def location(self, node: ast.AST) -> SourceLocation:
        """Where a node begins in the user's file."""
        line = getattr(node, "lineno", self.tree.lineno)
        offset = getattr(node, "col_offset", 0)
        text = self.lines[line - 1].rstrip("\n")
        # The parser counts columns in UTF-8 bytes.
        column = len(text.encode()[:offset].decode(errors="replace")) + 1
        code = self.function.__code__
        return SourceLocation(code.co_filename, self.first_line + line - 1, column, text)

    def float_literal(self, node: ast.Constant) -> float:
        """The value of a literal, read from the text again: Python's parser rounds as the processor does."""
        from vyre.frontend.literals import float_literal

        line = self.lines[node.lineno - 1].encode()
        text = line[node.col_offset : node.end_col_offset].decode(errors="replace")
        value = float_literal(text) if node.end_lineno == node.lineno else None
        return float(node.value) if value is None else value  # pyright: ignore[reportArgumentType]

    def fail(self, node: ast.AST, message: str, fix: str) -> NoReturn:
        # The refusal inside the translator says nothing more to the user.
        raise KernelError(message, fix=fix, location=self.location(node)) from None

    def warn(self, node: ast.AST, message: str, fix: str) -> None:
        """A `KernelWarning` at the user's line."""
        warn_at(self.location(node), f"{message} Fix: {fix}")


def source_of(function: Any) -> Source:
    """Reads the source of a function. Raises `KernelError` for anything that has none."""
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        name = getattr(function, "__name__", repr(function))
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        kind = str(type(function).__name__)
        raise KernelError(
            f"{name} is not a function written with `def`.",
            fix=f"put @vyre.kernel below @{kind}."
            if kind in ("staticmethod", "classmethod")
            else "decorate a plain function with annotated parameters.",
            location=SourceLocation(code.co_filename, code.co_firstlineno, 1)
            if code
            else SourceLocation("<unknown>", 1, 1),
        )
    import inspect

    code = function.__code__
    place = SourceLocation(code.co_filename, code.co_firstlineno, 1)
    if "__wrapped__" in vars(function):
        # The source would be that of the function inside, the names those of the module of the decorator.
        raise KernelError(
            f"{function.__name__} is wrapped by a decorator, whose code has no meaning in a kernel.",
            fix="put vyre's decorator next to `def`, below all others.",
            location=place,
        )
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, IndexError):
        raise KernelError(
            f"the source of {function.__name__} cannot be read.",
            fix="write the function in a file, a notebook cell, or the prompt of Python 3.13 or later.",
            location=place,
        ) from None
    try:
        tree = _parse("".join(lines))
    except (SyntaxError, RecursionError) as error:
        raise KernelError(
            f"the source of {function.__name__} cannot be parsed on its own: {error}.",
            fix="write it as a plain `def` with shorter expressions.",
            location=place,
        ) from None
    if tree is None:
        raise KernelError(
            f"{function.__name__} is not written with a plain `def`.",
            fix="decorate a plain function; `async def` and `lambda` have no meaning in a kernel.",
            location=place,
        )
    return Source(function, tree, tuple(lines), max(first, 1))


def source_at_hand(function: FunctionType) -> Source | None:
    """The same as `source_of` but for comments at the end, which tokenises the file to find where it ends.

    None where that is not plain: the lines behind the last instruction that are indented belong to it, and if
    a string or a bracket goes on behind them, what is left does not parse.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    file = linecache.getlines(code.co_filename, function.__globals__)
    first, last = code.co_firstlineno, _last_line(code)
    if not 0 < first <= last <= len(file):
        return None
    start = file[first - 1]
    margin = start[: len(start) - len(start.lstrip())]
    end = last
    for number, line in enumerate(file[last:], last + 1):
        text = line.lstrip()
        if text.strip() and not text.startswith("#"):
            if not (line.startswith(margin) and line[len(margin)] in " \t"):
                break
            end = number
    lines = tuple(file[first - 1 : end])
    try:
        tree = _parse("".join(lines))
    except (SyntaxError, RecursionError):
        return None
    return None if tree is None else Source(function, tree, lines, first)


def _last_line(code: CodeType) -> int:
    """Where the last instruction ends, those of nested functions included."""
    ends = [end for _, end, _, _ in code.co_positions() if end is not None]
    nested = [_last_line(const) for const in code.co_consts if isinstance(const, CodeType)]
    return max([*ends, *nested], default=0)


def _parse(text: str) -> ast.FunctionDef | None:
    if text[:1] in (" ", "\t"):
        # An indented function parses as the body of a block, which keeps its columns.
        module = ast.parse("if 1:\n" + text)
        block = module.body[0]
        body = block.body if isinstance(block, ast.If) else []
        for node in body:
            ast.increment_lineno(node, -1)
    else:
        body = ast.parse(text).body
    return next((node for node in body if isinstance(node, ast.FunctionDef)), None)


def names_of(function: FunctionType) -> Mapping[str, Any]:
    """The names a function sees from outside: its closure, then its module, then Python's own."""
    code = function.__code__
    closure: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # a name that the enclosing function has not assigned yet
            continue
    return {**vars(builtins), **function.__globals__, **closure}
