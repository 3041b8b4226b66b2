"""Ways out of a block as branches: `continue`, and `return` in the functions that a kernel calls.

What follows an `if` that surely leaves moves into its other branch, so nothing is tested twice. Where a
branch only may leave, a flag says whether it did. A `return` inside a loop also ends the loop. The result
is plain Python again, without the statement that was asked to go.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def without_continue(body: Sequence[ast.stmt], fresh: Callable[[str], str]) -> list[ast.stmt]:
    """The body of a loop without `continue` of that loop."""
    lowering = _Lowering(ast.Continue, lambda _: [], fresh)
    return lowering.whole(body) if lowering.leaves(body) else list(body)


def without_return(
    body: Sequence[ast.stmt],
    leave: Callable[[ast.Return], Sequence[ast.stmt]],
    fresh: Callable[[str], str],
) -> list[ast.stmt]:
    """The body of a function without `return`; `leave` says what each one does with its value."""

    def left(node: ast.stmt) -> Sequence[ast.stmt]:
        assert isinstance(node, ast.Return)
        return leave(node)

    return _Lowering(ast.Return, left, fresh).whole(body)


def assigned_names(body: Sequence[ast.stmt]) -> set[str]:
    """The names that the statements assign, those of nested functions apart."""
    found: set[str] = set()
    pending: list[ast.AST] = [*body]
    while pending:
        node = pending.pop()
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        pending.extend(ast.iter_child_nodes(node))
    return found


def leaves_loop(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` of this loop stands in its body."""
    return _Lowering(ast.Break, lambda _: [], str).leaves(body)


def surely_returns(body: Sequence[ast.stmt]) -> bool:
    """Whether every path through the body ends in a `return`."""
    return any(_ends(s, ast.Return) for s in body)


def has_early_return(body: Sequence[ast.stmt]) -> bool:
    """Whether a `return` stands anywhere but at the end."""
    lowering = _Lowering(ast.Return, lambda _: [], str)
    return lowering.leaves(body[:-1]) or (bool(body) and not isinstance(body[-1], ast.Return))


@dataclass(slots=True)
class _Lowering:
    exit: type[ast.stmt]
    leave: Callable[[ast.stmt], Sequence[ast.stmt]]
    fresh: Callable[[str], str]
    flag: str = field(default="", init=False)

    def whole(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        lowered = self._block(body, flagged=False, in_loop=False)
        if not self.flag:
            return lowered
        return [_set(body[0], self.flag, value=False), *lowered]

    def leaves(self, body: Sequence[ast.stmt]) -> bool:
        """Whether some path leaves; a loop inside keeps its own `continue`."""
        stack: list[ast.AST] = list(body)
        while stack:
            node = stack.pop()
            if isinstance(node, self.exit):
                return True
            inner_loop = isinstance(node, _LOOPS) and self.exit is not ast.Return
            if isinstance(node, ast.stmt) and not isinstance(node, _SCOPES) and not inner_loop:
                stack.extend(ast.iter_child_nodes(node))
        return False

    def _block(self, body: Sequence[ast.stmt], *, flagged: bool, in_loop: bool) -> list[ast.stmt]:
        """The block; where `flagged`, leaving it sets the flag, and `in_loop` it ends the loop as well."""
        done: list[ast.stmt] = []
        for position, node in enumerate(body):
            rest = list(body[position + 1 :])
            if isinstance(node, self.exit):
                done.extend(self.leave(node))
                if flagged:
                    done.append(_set(node, self._flag(), value=True))
                if in_loop:
                    done.append(ast.copy_location(ast.Break(), node))
                return done
            if not self.leaves([node]):
                done.append(node)
                continue
            if isinstance(node, _LOOPS):
                return [*done, *self._loop(node, rest, flagged=flagged, in_loop=in_loop)]
            assert isinstance(node, ast.If)
            then, orelse = list(node.body), list(node.orelse)
            surely = any(_ends(s, self.exit) for s in then) or any(_ends(s, self.exit) for s in orelse)
            if surely or not rest:
                if any(_ends(s, self.exit) for s in then):
                    orelse += rest
                else:
                    then += rest
                rest = []
            inner = flagged or bool(rest)
            branches = [self._block(b, flagged=inner, in_loop=in_loop) for b in (then, orelse)]
            passing: list[ast.stmt] = [ast.copy_location(ast.Pass(), node)]
            done.append(ast.copy_location(ast.If(node.test, branches[0] or passing, branches[1]), node))
            if rest:
                done.append(self._unless_left(rest, flagged=flagged, in_loop=in_loop))
            return done
        return done

    def _loop(
        self, node: ast.stmt, rest: Sequence[ast.stmt], *, flagged: bool, in_loop: bool
    ) -> list[ast.stmt]:
        assert isinstance(node, _LOOPS)
        body = self._block(node.body, flagged=bool(rest) or flagged or in_loop, in_loop=True)
        if isinstance(node, ast.For):
            loop: ast.stmt = ast.For(node.target, node.iter, body, node.orelse)
        else:
            loop = ast.While(node.test, body, node.orelse)
        done: list[ast.stmt] = [ast.copy_location(loop, node)]
        if in_loop:
            left = ast.copy_location(ast.Name(self._flag(), ast.Load()), node)
            done.append(ast.copy_location(ast.If(left, [ast.copy_location(ast.Break(), node)], []), node))
            return [*done, *self._block(rest, flagged=flagged, in_loop=True)]
        if rest:
            done.append(self._unless_left(rest, flagged=flagged, in_loop=False))
        return done

    def _unless_left(self, rest: Sequence[ast.stmt], *, flagged: bool, in_loop: bool) -> ast.stmt:
        left = ast.copy_location(ast.Name(self._flag(), ast.Load()), rest[0])
        test = ast.copy_location(ast.UnaryOp(ast.Not(), left), rest[0])
        body = self._block(rest, flagged=flagged, in_loop=in_loop)
        return ast.copy_location(ast.If(test, body, []), rest[0])

    def _flag(self) -> str:
        self.flag = self.flag or self.fresh("left")
        return self.flag


def _ends(node: ast.stmt, kind: type[ast.stmt]) -> bool:
    if isinstance(node, ast.If):
        return any(_ends(s, kind) for s in node.body) and any(_ends(s, kind) for s in node.orelse)
    return isinstance(node, kind)


def _set(at: ast.AST, name: str, *, value: bool) -> ast.stmt:
    target = ast.copy_location(ast.Name(name, ast.Store()), at)
    return ast.copy_location(ast.Assign([target], ast.copy_location(ast.Constant(value), at)), at)
