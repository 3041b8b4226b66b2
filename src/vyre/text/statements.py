"""Statements from tokens, with a stack of open blocks instead of recursion."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vyre.errors import SourceLocation
from vyre.ir import node as n
from vyre.ir.limits import MAX_NESTING, MAX_NODES
from vyre.text.climbing import expression
from vyre.text.vocabulary import KEYWORDS

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.text.lexer import Cursor


def check_size(c: Cursor, size: int) -> None:
    if size > MAX_NODES:
        raise c.error(f"V019: more than {MAX_NODES} nodes.", fix="split the program.")


@dataclass(slots=True)
class _Open:
    """A block whose `}` has not come yet. `chained` is an else branch without braces: `else if`."""

    kind: Literal["root", "if", "else", "for", "block"]
    token: int
    path: str
    nodes: list[n.Node] = field(default_factory=list[n.Node])
    name: str = ""
    exprs: tuple[Expr, ...] = ()
    then: tuple[n.Node, ...] = ()
    chained: bool = False


class Body:
    """Statements up to the closing brace, with a stack of open blocks."""

    def __init__(self, c: Cursor, root: str) -> None:
        self.c = c
        self.open = [_Open("root", c.at, root)]
        self.size = 0
        self.semicolons = 0
        self.places: list[tuple[str, int]] = []
        self.result: Expr | None = None

    def statements(self, *, result: bool = False) -> tuple[n.Node, ...]:
        """Consumes the closing brace too. With `result`, `=> expression` may be the last statement."""
        c = self.c
        while True:
            self.separators()
            top = self.open[-1]
            if c.kind == "}":
                c.at += 1
                if top.kind == "root":
                    return tuple(top.nodes)
                self.close(top)
                continue
            if result and c.kind == "=>" and top.kind == "root":
                c.at += 1
                self.result = self.expr()
                self.separators()
                c.expect("}", context="after the result", fix="make `=> result` the last line of the op.")
                return tuple(top.nodes)
            self.places.append((f"{top.path}[{len(top.nodes)}]", c.at))
            self.count(1)
            self.statement(top)

    def statement(self, top: _Open) -> None:
        c = self.c
        at = c.at
        match c.kind:
            case "let":
                c.at += 1
                name = c.name("the name of the variable")
                c.expect("=", context="after the name", fix="write let x = value.")
                self.add(n.Let(name, self.expr()))
            case "barrier":
                c.at += 1
                self.add(n.Barrier())
            case "return":
                c.at += 1
                self.add(n.Return())
            case "if":
                c.at += 1
                self.enter(
                    _Open("if", at, self.places[-1][0] + ".then", exprs=(self.expr(),)), "the condition"
                )
            case "for":
                c.at += 1
                name = c.name("the name of the loop variable")
                c.expect("in", context="after the loop variable", fix="write for i in 0..n { … }.")
                start = self.expr()
                c.expect("..", context="between the bounds", fix="write for i in 0..n { … }.")
                exprs = (start, self.expr())
                self.enter(
                    _Open("for", at, self.places[-1][0] + ".body", name=name, exprs=exprs), "the bounds"
                )
            case "block":
                c.at += 1
                self.enter(_Open("block", at, self.places[-1][0] + ".body"), "`block`")
            case "name" if c.value == "break" and c.kinds[at + 1] not in (":=", "[", "="):
                # A word and no keyword, so that texts in which it names a variable are still read.
                c.at += 1
                self.add(n.Break())
            case "name" | "quoted":
                self.change()
            case _:
                self.no_statement(top)

    def change(self) -> None:
        """An assignment or a store."""
        c = self.c
        at = c.at
        name = c.value
        c.at += 1
        if c.take(":="):
            self.add(n.Assign(name, self.expr()))
        elif c.take("["):
            index = self.expr()
            c.expect("]", context="after the index", fix="write buffer[index] = value.")
            c.expect("=", context="after buffer[index]", fix="write buffer[index] = value.")
            self.add(n.Store(name, index, self.expr()))
        elif c.kind == "=":
            raise c.error(
                f"expected `:=` after {c.describe(at)}, found `=`.",
                fix="declare a variable with let x = value, change one with x := value.",
            )
        else:
            c.at = at
            if not c.starts_line() and c.kinds[at - 1] not in ("{", "}", ";"):
                raise c.error(
                    f"expected an operator or the end of the statement, found {c.describe()}.",
                    fix="put an operator between the operands, or a line break or ; between statements.",
                )
            self.no_statement(self.open[-1])

    def no_statement(self, top: _Open) -> None:
        c = self.c
        if c.kind == "end":
            line, column = c.tokens.place(c.tokens.offsets[top.token])
            raise c.error(f"the block begun at {line}:{column} is not closed.", fix="close it with }.")
        if c.kind == "else":
            raise c.error("`else` without `if`.", fix="put `else` behind the } of an `if`.")
        if c.kind == "=>":
            raise c.error("a result is not allowed here.", fix="make `=> result` the last line of an op.")
        fix = "write let x = v, x := v, buffer[i] = v, if, for, break, block, barrier or return."
        if c.kind in ("name", "quoted", "call", "(") or c.kind in KEYWORDS:
            fix += " A value alone does nothing: bind it with let."
        raise c.error(f"expected a statement, found {c.describe()}.", fix=fix)

    def separators(self) -> None:
        while self.c.take(";"):
            self.semicolons += 1
            if self.semicolons > 2 * MAX_NODES:
                raise self.c.error("there are more semicolons than statements.", fix="remove empty ones.")

    def expr(self) -> Expr:
        expr = expression(self.c)
        self.count(expr.size)
        return expr

    def count(self, size: int) -> None:
        self.size += size
        check_size(self.c, self.size)

    def enter(self, block: _Open, context: str) -> None:
        c = self.c
        if not c.take("{"):
            fix = "compare with ==." if c.kind == "=" else "open the block with {."
            raise c.error(f"expected an operator or `{{` after {context}, found {c.describe()}.", fix=fix)
        self.push(block)

    def push(self, block: _Open) -> None:
        if len(self.open) > MAX_NESTING:
            raise self.c.error(
                f"V018: more than {MAX_NESTING} levels of if, for and block.",
                fix="move inner blocks into ops, or join their conditions.",
                at=block.token,
            )
        self.open.append(block)

    def close(self, block: _Open) -> None:
        c = self.c
        self.open.pop()
        body = tuple(block.nodes)
        match block.kind:
            case "if":
                at = c.at
                if not c.take("else"):
                    self.add(n.If(block.exprs[0], body))
                    return
                path = block.path.removesuffix(".then") + ".orelse"
                orelse = _Open("else", at, path, exprs=block.exprs, then=body, chained=c.kind == "if")
                if not orelse.chained:
                    self.enter(orelse, "`else`")
                    return
                self.push(orelse)
            case "for":
                start, stop = block.exprs
                self.add(n.Loop(block.name, start, stop, body))
            case "block":
                self.add(n.Block(body))
            case _:
                self.add(n.If(block.exprs[0], block.then, body))

    def add(self, node: n.Node) -> None:
        """Appends to the innermost block, and closes the else branches that end with their only `if`."""
        while self.open[-1].chained:
            holder = self.open.pop()
            node = n.If(holder.exprs[0], holder.then, (node,))
        self.open[-1].nodes.append(node)

    def locations(self) -> dict[str, SourceLocation]:
        tokens = self.c.tokens
        lines = tokens.text.split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        places: dict[str, SourceLocation] = {}
        for path, token in self.places:
            offset = tokens.offsets[token]
            row = bisect_right(starts, offset)
            places[path] = SourceLocation(tokens.file, row, offset - starts[row - 1] + 1, lines[row - 1])
        return places
