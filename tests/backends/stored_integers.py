"""Programs over I8, U8, I16, U16 and I64 buffers, with their inputs and grids, for every backend to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import (
    Barrier,
    BufferDecl,
    BufLen,
    Cast,
    DataType,
    If,
    InvocationId,
    Let,
    LitU32,
    Loop,
    MakeVec,
    Program,
    Select,
    Var,
)
from vyre.ir.types import NARROW_TYPES, STORED_TYPES

if TYPE_CHECKING:
    from vyre.ir import Expr, Node

Case = tuple[Program, dict[str, bytes], tuple[int, int, int]]

T = DataType
I = InvocationId(0)  # noqa: E741
BITS = bytes((37 * i * i + 11 * i + 129) & 0xFF for i in range(256))
STORED = sorted(STORED_TYPES, key=lambda t: t.value)
NARROW = sorted(NARROW_TYPES, key=lambda t: t.value)


def word(*values: int) -> bytes:
    return b"".join(v.to_bytes(4, "little") for v in values)


def _value(element: DataType, x: Expr, loaded: DataType) -> Expr:
    """A U32 as a value that the element takes, `loaded` one of them."""
    if element is T.I64:
        return MakeVec(T.U64, (x, x * 0x9E3779B1 + 1))
    return x if loaded is T.U32 else Cast(T.I32, x)


def widened(element: DataType) -> Case:
    """Every element as it is loaded, from storage, a uniform and workgroup memory."""
    loaded = element.loaded
    data = BufferDecl.read("data", 0, element)
    few = BufferDecl.uniform("few", 1, element, count=5)
    tile = BufferDecl.workgroup("tile", element, 8)
    outs = [BufferDecl.read_write(f"out{k}", 2 + k, loaded) for k in range(3)]
    local = I % 8
    entry: list[Node] = [
        tile.store(local, data[I]),
        Barrier(),
        outs[0].store(I, data[I]),
        outs[1].store(I, few[I]),
        outs[2].store(I, tile[7 - local]),
    ]
    count = 256 // element.stride
    inputs = {"data": BITS, "few": BITS[100 : 100 + 5 * element.stride]}
    inputs |= {b.name: b"\x5a" * (count * loaded.stride) for b in outs}
    return Program([data, few, tile, *outs], (8,), entry), inputs, (count // 8, 1, 1)


def low_bits(element: DataType, given: DataType) -> Case:
    """Stores of words with any upper bits, read back from storage and from workgroup memory."""
    out = BufferDecl.read_write("out", 0, element)
    back = BufferDecl.read_write("back", 1, element.loaded)
    tile = BufferDecl.workgroup("tile", element, 16)
    spread = Var("x")
    entry: list[Node] = [
        Let("x", I * 0x89ABCDEF + 0x12345678),
        tile.store(I % 16, _value(element, spread, given)),
        out.store(I, _value(element, spread, given)),
        Barrier(),
        back.store(I, tile[15 - I % 16]),
        back.store(I + 48, out[I]),
    ]
    inputs = {"out": bytes(48 * element.stride), "back": bytes(96 * element.loaded.stride)}
    return Program([out, back, tile], (16,), entry), inputs, (3, 1, 1)


def neighbours(element: DataType, count: int) -> Case:
    """64 invocations a group write neighbouring elements again and again; the last word may be part full."""
    out = BufferDecl.read_write("out", 0, element)
    body: list[Node] = [
        out.store(I, _value(element, Var("k") * 771 + I * 3, T.U32)),
        If((Var("k") % 3).eq(1), [out.store(I, Var("old"))]),
    ]
    entry: list[Node] = [Let("old", out[I]), Loop("k", LitU32(0), LitU32(31), body)]
    start = (BITS * 8)[: count * element.stride]
    return Program([out], (64,), entry), {"out": start}, (3, 1, 1)


def ends(element: DataType) -> Case:
    """Loads, stores and lengths at and far beyond the end, in every kind of memory."""
    out = BufferDecl.read_write("out", 0, element)
    few = BufferDecl.uniform("few", 1, element, count=5)
    at = BufferDecl.read("at", 2, T.U32)
    sizes = BufferDecl.read_write("sizes", 3, T.U32)
    tile = BufferDecl.workgroup("tile", element, 3)
    index = at[I]
    entry: list[Node] = [
        tile.store(index, few[index]),
        Barrier(),
        out.store(index | 16, tile[index]),
        out.store(I, few[index]),
        out.store(I + 8, out[index + 0x7FFFFFF0]),
        out.store(I + BufLen("out"), few[I % 5]),
        sizes.store(I, Select(I.eq(0), BufLen("out"), BufLen("tile") * 100 + BufLen("few"))),
    ]
    size = element.stride
    inputs = {"few": BITS[: 5 * size], "out": BITS[: 21 * size][::-1], "sizes": bytes(32)}
    inputs["at"] = word(2, 3, 4, 5, 21, 22, 0x80000000, 0xFFFFFFFF)
    return Program([out, few, at, sizes, tile], (8,), entry), inputs, (1, 1, 1)


def table(element: DataType) -> Case:
    """A byte or half picks the place: what is known of its range lets a guard go."""
    pick = BufferDecl.read("pick", 0, element)
    weights = BufferDecl.read("weights", 1, T.U32, count=256)
    out = BufferDecl.read_write("out", 2, T.U32)
    place = pick[I] if element.loaded is T.U32 else Cast(T.U32, pick[I])
    entry: list[Node] = [out.store(I, weights[place] + weights[place & 255])]
    inputs = {"pick": BITS[: 64 * element.stride], "out": bytes(256)}
    inputs["weights"] = word(*(7 * k + 1 for k in range(256)))
    return Program([pick, weights, out], (64,), entry), inputs, (1, 1, 1)


def own(element: DataType) -> Case:
    """Private memory, indexed at run time, and a constant table of an odd length."""
    mine = BufferDecl.private("mine", element, 5)
    told = BufferDecl.constant("told", element, BITS[60 : 60 + 7 * element.stride])
    back = BufferDecl.read_write("back", 0, element.loaded)
    k = Var("k")
    entry: list[Node] = [
        Loop(
            "k", LitU32(0), LitU32(7), [mine.store((k + I) % 6, _value(element, k * 0x1F2E3D4C + I, T.U32))]
        ),
        Loop("j", LitU32(0), LitU32(6), [back.store(I * 14 + Var("j"), mine[Var("j")])]),
        Loop("n", LitU32(0), LitU32(8), [back.store(I * 14 + 6 + Var("n"), told[(Var("n") + I) % 9])]),
    ]
    return (
        Program([mine, told, back], (16,), entry),
        {"back": bytes(16 * 14 * element.loaded.stride)},
        (1, 1, 1),
    )


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for element in STORED:
        name = element.value
        found[f"widened {name}"] = widened(element)
        found[f"ends {name}"] = ends(element)
        found[f"own {name}"] = own(element)
        found |= {f"neighbours {name} {n}": neighbours(element, n) for n in (0, 3, 190)}
        found |= {f"low bits {name} of {t.value}": low_bits(element, t) for t in element.stored}
    return found | {f"table {element.value}": table(element) for element in NARROW}
