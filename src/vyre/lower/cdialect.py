"""What CUDA C and OpenCL C share as dialects of C: expressions, helper names, memory of their own."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp
from vyre.ir.types import SIGNED_TYPES, DataType
from vyre.lower.clike import Dialect, lanes_of

if TYPE_CHECKING:
    from vyre.ir import expr as e
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

_ATOMIC_HELPERS = {
    AtomicOp.Add: "atomic_add",
    AtomicOp.Or: "atomic_or",
    AtomicOp.And: "atomic_and",
    AtomicOp.Xor: "atomic_xor",
    AtomicOp.Min: "atomic_min",
    AtomicOp.Max: "atomic_max",
    AtomicOp.Exchange: "atomic_exchange",
    AtomicOp.CompareExchange: "atomic_cas",
}

_NARROW = {1: "b", 2: "h"}
"""The helper families of elements that take less than a word, by their bytes."""


class CDialect(Dialect):
    """C with `u32`, `uint2` and `uint4`; the memory helpers may carry a prefix for their address space."""

    pointers = True

    def __init__(self, *, doubles: bool) -> None:
        super().__init__()
        self.doubles = doubles

    @property
    @abstractmethod
    def half(self) -> str:
        """The 16-bit unsigned type."""

    @property
    @abstractmethod
    def byte(self) -> str:
        """The 8-bit unsigned type."""

    def suffix(self, element: DataType) -> str:
        """The helper family of a buffer: lanes of its element, `b` for bytes, `h` for halves of a word, `d`
        for doubles."""
        if element is DataType.F64 and self.doubles:
            return "d"
        return _NARROW.get(element.stride) or str(lanes_of(element))

    def prefix(self, decl: BufferDecl) -> str:
        """What the names of the helpers for this buffer begin with."""
        return ""

    def type_name(self, lanes: int) -> str:
        return "u32" if lanes == 1 else f"uint{lanes}"

    def from_bool(self, condition: str) -> str:
        return f"((u32)({condition}))"

    def choose(self, condition: str, if_true: str, if_false: str) -> str:
        return f"(({condition}) ? {if_true} : {if_false})"

    def declare(self, name: str, kind: str, value: str) -> str:
        return f"{kind} {name} = {value};"

    @property
    @abstractmethod
    def cold(self) -> str:
        """What a function begins with that must not be inlined."""

    def function_head(self, name: str, params: list[tuple[str, str]], output: str, *, cold: bool) -> str:
        kind = self.cold if cold else "FN"
        return f"{kind} {output} {name}({', '.join(f'{kind} {p}' for kind, p in params)}) {{"

    def loop_head(self, var: str, start: str, stop: str) -> str:
        return f"for (u32 {var} = {start}; {var} < {stop}; {var}++) {{"

    @abstractmethod
    def plain_atomic(self, op: AtomicOp, address: str, operands: list[str]) -> str:
        """The language's own atomic; `operands` are the new value and, to compare, the expected one."""

    def load(self, decl: BufferDecl, index: str, *, guard: bool, offset: int) -> str:
        signed = decl.element in SIGNED_TYPES
        if guard:
            kind = f"{'s' if signed else ''}{self.suffix(decl.element)}"
            loaded = self.call(f"{self.prefix(decl)}load_{kind}", place_of(decl), index)
        else:
            element = element_at(decl, index, offset)
            loaded = f"((u32){element})" if decl.element.stride in _NARROW else element
            loaded = self.call(f"sign_{decl.element.bits}", loaded) if signed else loaded
        return f"((u32)({loaded} != 0u))" if decl.element is DataType.Bool else loaded

    def store(self, decl: BufferDecl, index: str, value: str, *, guard: bool, offset: int) -> str:
        suffix = self.suffix(decl.element)
        if guard:
            return self.call(f"{self.prefix(decl)}store_{suffix}", place_of(decl), index, value) + ";"
        element = element_at(decl, index, offset)
        narrow = decl.element.stride in _NARROW
        return f"{element} = {f'({self.element_type(decl.element)}){value}' if narrow else value};"

    def atomic(self, decl: BufferDecl, op: e.Atomic, operands: list[str], *, guard: bool) -> str:
        if guard:
            return self.call(f"{self.prefix(decl)}{_ATOMIC_HELPERS[op.op]}", place_of(decl), *operands)
        return self.plain_atomic(op.op, f"&b_{decl.name}[{operands[0]}]", operands[1:])

    def element_type(self, element: DataType) -> str:
        match self.suffix(element):
            case "b":
                return self.byte
            case "h":
                return self.half
            case _:
                return self.value_type(element)

    def zero(self, element: DataType) -> str:
        if element is DataType.F64 and self.doubles:
            return self.double(0)
        return self.call(f"zext_1_{lanes_of(element)}", "0u") if lanes_of(element) > 1 else "0u"


def element_at(decl: BufferDecl, index: str, offset: int) -> str:
    return f"(b_{decl.name} + {index})[{offset}u]" if offset else f"b_{decl.name}[{index}]"


def place_of(decl: BufferDecl) -> str:
    return f"b_{decl.name}, {f'{decl.count}u' if decl.count else f'len_{decl.name}'}"


def shared_memory(prepared: Prepared, dialect: CDialect, space: str) -> list[str]:
    """Declarations of workgroup memory and the loops that fill it with zeros."""
    decls = [b for b in prepared.buffers if b.access.shared]
    if not decls:
        return []
    x, y, z = prepared.workgroup_size
    lines = [f"  {space} {dialect.element_type(b.element)} b_{b.name}[{b.count}];" for b in decls]
    lines.append(f"  const u32 local_linear = local_x + local_y * {x}u + local_z * {x * y}u;")
    for b in decls:
        head = f"for (u32 z = local_linear; z < {b.count}u; z += {x * y * z}u)"
        lines.append(f"  {head} b_{b.name}[z] = {dialect.zero(b.element)};")
    return lines + [f"  {text}" for text in dialect.barrier]


def private_memory(prepared: Prepared, dialect: CDialect) -> list[str]:
    """Arrays of the invocation, filled with zeros."""
    decls = (b for b in prepared.buffers if b.access is BufferAccess.Private)
    kinds = ((b, dialect.element_type(b.element)) for b in decls)
    return [f"  {kind} b_{b.name}[{b.count}] = {{ {dialect.zero(b.element)} }};" for b, kind in kinds]


def _words(decl: BufferDecl) -> list[str]:
    """The words of a constant table as literals, the last one padded with zeros."""
    data = decl.data + bytes(-len(decl.data) % 4)
    return [f"{int.from_bytes(data[at : at + 4], 'little')}u" for at in range(0, len(data), 4)]


def tables(prepared: Prepared, space: str) -> list[str]:
    """The constant tables as words outside of the kernel."""
    return [
        f"{space} u32 words_{b.name}[] = {{ {', '.join(_words(b))} }};"
        for b in prepared.buffers
        if b.access is BufferAccess.Constant
    ]


def table_pointers(prepared: Prepared, dialect: CDialect, space: str) -> list[str]:
    """The same words as elements, inside of it."""
    decls = (b for b in prepared.buffers if b.access is BufferAccess.Constant)
    kinds = ((b, f"const {space}{dialect.element_type(b.element)}*") for b in decls)
    return [f"  {kind} b_{b.name} = ({kind})words_{b.name};" for b, kind in kinds]
