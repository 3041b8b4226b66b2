"""The two node tables: checked first, on numbers alone; built only when nothing is left to check.

The checks hold a few words per entry, so hostile input costs memory in proportion to its own size.
Tree sizes are summed per entry and refused as soon as one is over the limit, so a table of doublings
is never expanded.
"""

from __future__ import annotations

from array import array
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from vyre.ir.limits import MAX_EXPR_DEPTH, MAX_NESTING, MAX_NODES
from vyre.ir.operators import AtomicOp
from vyre.wire.cursor import DAMAGED, NEWER, Cursor, long_varint, refuse, use_name
from vyre.wire.layout import (
    BITS,
    BY_ATOMIC_OP,
    EXPR_LAYOUTS,
    FLAG,
    LITERAL_BYTES,
    NAME,
    NODE_LAYOUTS,
    SIGNED,
    TAG,
    VARIADIC,
    ExprLayout,
    NodeLayout,
    by_tag,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

_EXPRS: tuple[ExprLayout | None, ...] = by_tag((layout, layout.tag) for layout in EXPR_LAYOUTS.values())
_NODES: tuple[NodeLayout | None, ...] = by_tag((layout, layout.tag) for layout in NODE_LAYOUTS.values())


class Table:
    """What the checks know of a table: where entry `i` starts, its tree, and the entries it uses.

    The operands of entry `i` are `operands[first[i]:first[i + 1]]`. `levels` is the depth of an
    expression or the nesting of a statement. Statements also have `names`, indices of strings;
    `roots`, indices of expressions; and `lengths` of their bodies, each as they come in the table.
    """

    __slots__ = ("first", "lengths", "levels", "names", "offsets", "operands", "roots", "sizes")

    def __init__(self) -> None:
        self.offsets = array("Q")
        self.sizes = array("I")
        self.levels = array("I")
        self.first = array("Q", [0])
        self.operands = array("I")
        self.names = array("I")
        self.roots = array("I")
        self.lengths = array("I")

    def __len__(self) -> int:
        return len(self.offsets)

    def check_order(self, roots: Iterable[int], what: str) -> None:
        """Refuses a table that is not in first-use order, operands first, or has unused entries."""
        wrong = misplaced(roots, self.first, self.operands)
        if wrong is not None:
            refuse(self.offsets[wrong], f"{what} {wrong} is unused, or not where its first use puts it.")

    def check_unique(self, built: Sequence[Any], what: str) -> None:
        """Equal entries are one interned node, so a table of distinct entries gives distinct nodes."""
        if len(set(built)) == len(built):
            return
        seen: set[Any] = set()
        for index, item in enumerate(built):
            if item in seen:
                refuse(self.offsets[index], f"{what} {index} repeats an earlier one.")
            seen.add(item)


def misplaced(roots: Iterable[int], first: Sequence[int], operands: Sequence[int]) -> int | None:
    """The first evidence that a table is not a left-to-right postorder from `roots`; None if it is.

    In a postorder, the entries that are new under entry `i` are a run `begin..i`, and the runs of its
    operands that are not older than `begin` follow each other without a gap up to `i`. Users come
    after operands, so one pass from the last entry down knows every `begin` when it needs it.
    """
    count = len(first) - 1
    begin = array("I", bytes(4 * count))
    done = 0
    for root in roots:
        if root >= done:
            begin[root] = done
            done = root + 1
    if done != count:
        return done
    for index in range(count - 1, -1, -1):
        done = begin[index]
        for position in range(first[index], first[index + 1]):
            operand = operands[position]
            if operand >= done:
                begin[operand] = done
                done = operand + 1
        if done != index:
            return done
    return None


def scan_exprs(cursor: Cursor) -> Table:
    """Checks every expression entry on its own, and the limits of its tree."""
    table = Table()
    count = cursor.count("expressions", MAX_NODES, "V019")
    data, pos, used, strings = cursor.data, cursor.pos, cursor.used, cursor.strings
    sizes, levels, operands = table.sizes, table.levels, table.operands
    for index in range(count):
        table.offsets.append(pos)
        layout = _EXPRS[data[pos]]
        if layout is None:
            refuse(pos, f"{data[pos]} is not a tag of an expression.", NEWER)
        pos += 1
        member: Any = None
        for _, kind, low, high, _, members in layout.fields:
            byte = data[pos]
            if kind == TAG:
                member = members[byte]
                if member is None:
                    refuse(pos, f"{byte} is not a tag of this field of {layout.cls.__name__}.", NEWER)
                pos += 1
            elif kind == BITS:
                pos += LITERAL_BYTES[member]
                if pos > len(data):
                    refuse(len(data), "a literal runs past the end.", DAMAGED)
            else:
                start = pos
                if byte < 128:
                    value = byte
                    pos += 1
                else:
                    value, pos = long_varint(data, pos, high)
                if kind == NAME:
                    used = use_name(start, value, used, strings)
                elif not low <= value <= high:
                    refuse(start, f"{value} is not in {low}..{high}, as {layout.cls.__name__} needs.")

        arity = layout.operands
        if arity == VARIADIC:
            cursor.pos = pos
            arity = cursor.count("operands", MAX_NODES, "V019")
            pos = cursor.pos
        elif arity == BY_ATOMIC_OP:
            arity = 3 if member is AtomicOp.CompareExchange else 2
        size = 1
        level = 0
        for _ in range(arity):
            start = pos
            back = data[pos]
            if back < 128:
                pos += 1
            else:
                back, pos = long_varint(data, pos, MAX_NODES)
            if not 0 < back <= index:
                refuse(start, f"expression {index} has no expression {back} before it.")
            operand = index - back
            operands.append(operand)
            size += sizes[operand]
            if levels[operand] > level:
                level = levels[operand]
        if size > MAX_NODES:
            refuse(table.offsets[index], f"V019: an expression of over {MAX_NODES} nodes.", "split it.")
        if level >= MAX_EXPR_DEPTH:
            message = f"V034: an expression over {MAX_EXPR_DEPTH} levels deep."
            refuse(table.offsets[index], message, "bind parts of it with Let.")
        sizes.append(size)
        levels.append(level + 1)
        table.first.append(len(operands))
    cursor.pos, cursor.used = pos, used
    return table


def scan_nodes(cursor: Cursor, exprs: Table) -> Table:
    """Checks every statement entry on its own, and the limits of its tree."""
    table = Table()
    for index in range(cursor.count("statements", MAX_NODES, "V019")):
        offset = cursor.pos
        table.offsets.append(offset)
        layout: NodeLayout = cursor.tag(_NODES, "a statement")
        if layout.name is not None:
            table.names.append(cursor.name())
        size = 1
        for _ in range(layout.exprs):
            start = cursor.pos
            root = cursor.varint(MAX_NODES)
            if root >= len(exprs):
                refuse(start, f"expression {root} of {len(exprs)} does not exist.")
            table.roots.append(root)
            size += exprs.sizes[root]
        level = 0
        for _ in range(layout.bodies):
            length = cursor.count("statements of a body", MAX_NODES, "V019")
            table.lengths.append(length)
            for _ in range(length):
                start = cursor.pos
                back = cursor.varint(MAX_NODES)
                if not 0 < back <= index:
                    refuse(start, f"statement {index} has no statement {back} before it.")
                child = index - back
                table.operands.append(child)
                size += table.sizes[child]
                level = max(level, table.levels[child])
        if size > MAX_NODES:
            refuse(offset, f"V019: a statement of over {MAX_NODES} nodes.", "split the program.")
        if layout.bodies:
            level += 1
        if level > MAX_NESTING:
            refuse(offset, f"V018: blocks nested over {MAX_NESTING} deep.", "flatten the blocks.")
        table.sizes.append(size)
        table.levels.append(level)
        table.first.append(len(table.operands))
    return table


def build_exprs(data: bytes, table: Table, strings: Sequence[str]) -> list[Expr]:
    """The expressions of a table that `scan_exprs` has accepted."""
    built: list[Expr] = []
    operands = iter(table.operands)
    for pos, (start, stop) in zip(table.offsets, pairwise(table.first), strict=True):
        layout = _EXPRS[data[pos]]
        assert layout is not None
        cls: Any
        cls, _, fields, arity, last = layout
        pos += 1
        values: list[Any] = []
        for _, kind, _, high, _, members in fields:
            value = data[pos]
            if kind == TAG:
                values.append(members[value])
                pos += 1
                continue
            if kind == BITS:
                width = LITERAL_BYTES[values[0]]
                values.append(int.from_bytes(data[pos : pos + width], "little"))
                continue
            if value < 128:
                pos += 1
            else:
                value, pos = long_varint(data, pos, high)
            if kind == NAME:
                values.append(strings[value])
            elif kind == SIGNED:
                values.append(~(value >> 1) if value & 1 else value >> 1)
            elif kind == FLAG:
                values.append(value == 1)
            else:
                values.append(value)
        if arity:
            children = [built[i] for i in islice(operands, stop - start)]
            if arity == VARIADIC:
                values.append(tuple(children))
            elif last:
                values[-1:] = [*children, values[-1]]
            else:
                values += children
        built.append(cls(*values))
    return built


def build_nodes(data: bytes, table: Table, exprs: Sequence[Expr], strings: Sequence[str]) -> list[Node]:
    """The statements of a table that `scan_nodes` has accepted."""
    built: list[Node] = []
    names, roots, children, lengths = map(iter, (table.names, table.roots, table.operands, table.lengths))
    for offset in table.offsets:
        layout = _NODES[data[offset]]
        assert layout is not None
        cls: Any
        cls, _, name, count, bodies = layout
        values: list[Any] = [strings[next(names)]] if name else []
        if count:
            values += [exprs[i] for i in islice(roots, count)]
        if bodies:
            values += [tuple([built[i] for i in islice(children, n)]) for n in islice(lengths, bodies)]
        built.append(cls(*values))
    return built
