"""The names of a kernel's annotations: value types, and what a parameter is to the host.

    def f(a: In[u32], out: Out[u32], n: u32): ...

They are read by the front end and never instantiated. For type checkers they carry the operators that
kernels may use, so that a kernel checks like any other function.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from vyre.errors import VyreError, boundary
from vyre.ir.types import DataType
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from typing import Generic, Self, overload

    from typing_extensions import TypeVar

    T = TypeVar("T")
    N = TypeVar("N", default=int)


class Scalar:
    """Base of the value types."""

    __vyre_type__: ClassVar[DataType]

    @boundary
    def __init__(self, *value: Any) -> None:
        name = type(self).__name__
        raise VyreError(
            f"{name}() makes values only inside @vyre.kernel or @vyre.op.",
            fix="write the plain number for a default or a constant, use a NumPy array on the host, "
            "or a literal of vyre.ir when building a program by hand.",
        )

    if not TYPE_CHECKING:

        @boundary
        def __class_getitem__(cls, count: Any) -> None:
            raise VyreError(
                f"{cls.__name__} is the type of one number and has no elements.",
                fix=f"write In[{cls.__name__}] for a buffer, In[{cls.__name__}, Literal[64]] for one of 64.",
            )

    if TYPE_CHECKING:

        def __bool__(self) -> bool: ...
        def __eq__(self, other: object) -> bool: ...
        def __ne__(self, other: object) -> bool: ...


class Integer(Scalar):
    if TYPE_CHECKING:

        def __init__(self, value: Scalar | int = 0) -> None: ...
        def __index__(self) -> int: ...
        def __add__(self, other: Self | int) -> Self: ...
        def __radd__(self, other: int) -> Self: ...
        def __sub__(self, other: Self | int) -> Self: ...
        def __rsub__(self, other: int) -> Self: ...
        def __mul__(self, other: Self | int) -> Self: ...
        def __rmul__(self, other: int) -> Self: ...
        def __floordiv__(self, other: Self | int) -> Self: ...
        def __rfloordiv__(self, other: int) -> Self: ...
        def __mod__(self, other: Self | int) -> Self: ...
        def __rmod__(self, other: int) -> Self: ...
        def __and__(self, other: Self | int) -> Self: ...
        def __rand__(self, other: int) -> Self: ...
        def __or__(self, other: Self | int) -> Self: ...
        def __ror__(self, other: int) -> Self: ...
        def __xor__(self, other: Self | int) -> Self: ...
        def __rxor__(self, other: int) -> Self: ...
        def __lshift__(self, other: Self | u32 | int) -> Self: ...
        def __rlshift__(self, other: int) -> Self: ...
        def __rshift__(self, other: Self | u32 | int) -> Self: ...
        def __rrshift__(self, other: int) -> Self: ...
        def __neg__(self) -> Self: ...
        def __invert__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __lt__(self, other: Self | int) -> bool: ...
        def __le__(self, other: Self | int) -> bool: ...
        def __gt__(self, other: Self | int) -> bool: ...
        def __ge__(self, other: Self | int) -> bool: ...


class Float(Scalar):
    if TYPE_CHECKING:

        def __init__(self, value: Scalar | float = 0) -> None: ...
        def __add__(self, other: Self | float) -> Self: ...
        def __radd__(self, other: float) -> Self: ...
        def __sub__(self, other: Self | float) -> Self: ...
        def __rsub__(self, other: float) -> Self: ...
        def __mul__(self, other: Self | float) -> Self: ...
        def __rmul__(self, other: float) -> Self: ...
        def __truediv__(self, other: Self | float) -> Self: ...
        def __rtruediv__(self, other: float) -> Self: ...
        def __pow__(self, other: Self | float) -> Self: ...
        def __rpow__(self, other: float) -> Self: ...
        def __neg__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __round__(self) -> Self: ...
        def __lt__(self, other: Self | float) -> bool: ...
        def __le__(self, other: Self | float) -> bool: ...
        def __gt__(self, other: Self | float) -> bool: ...
        def __ge__(self, other: Self | float) -> bool: ...


class Lanes(Scalar):
    if TYPE_CHECKING:

        def __init__(self, *lanes: u32 | int) -> None: ...
        def __getitem__(self, lane: int) -> u32: ...


class u32(Integer):  # noqa: N801 - value types read like values
    __vyre_type__ = DataType.U32


class i32(Integer):  # noqa: N801 - as u32
    __vyre_type__ = DataType.I32


class u64(Integer):  # noqa: N801 - as u32
    __vyre_type__ = DataType.U64

    if TYPE_CHECKING:

        def __getitem__(self, lane: int) -> u32: ...


class u128(Integer):  # noqa: N801 - as u32
    __vyre_type__ = DataType.U128

    if TYPE_CHECKING:

        def __getitem__(self, lane: int) -> u32: ...


class f16(Float):  # noqa: N801 - as u32
    __vyre_type__ = DataType.F16


class bf16(Float):  # noqa: N801 - as u32
    __vyre_type__ = DataType.BF16


class f32(Float):  # noqa: N801 - as u32
    __vyre_type__ = DataType.F32


class f64(Float):  # noqa: N801 - as u32
    __vyre_type__ = DataType.F64


class boolean(Scalar):  # noqa: N801 - as u32
    __vyre_type__ = DataType.Bool

    if TYPE_CHECKING:

        def __init__(self, value: Scalar | bool = False) -> None: ...
        def __add__(self, other: boolean | u32 | int) -> u32: ...
        def __radd__(self, other: u32 | int) -> u32: ...
        def __and__(self, other: boolean | u32 | int) -> u32: ...
        def __rand__(self, other: u32 | int) -> u32: ...
        def __or__(self, other: boolean | u32 | int) -> u32: ...
        def __ror__(self, other: u32 | int) -> u32: ...
        def __xor__(self, other: boolean | u32 | int) -> u32: ...
        def __rxor__(self, other: u32 | int) -> u32: ...


class vec2(Lanes):  # noqa: N801 - as u32
    """Two u32 lanes."""

    __vyre_type__ = DataType.Vec2U32


class vec4(Lanes):  # noqa: N801 - as u32
    """Four u32 lanes."""

    __vyre_type__ = DataType.Vec4U32


class packed_bytes(Scalar):  # noqa: N801 - as u32
    """Element of a `Bytes` buffer: bytes on the host, u32 words in the kernel."""

    __vyre_type__ = DataType.Bytes


class u8(Scalar):  # noqa: N801 - as u32
    """Element of a buffer, loaded as a u32; a store keeps the low 8 bits."""

    __vyre_type__ = DataType.U8


class u16(Scalar):  # noqa: N801 - as u32
    """Element of a buffer, loaded as a u32; a store keeps the low 16 bits."""

    __vyre_type__ = DataType.U16


class i8(Scalar):  # noqa: N801 - as u32
    """Element of a buffer, loaded as an i32; a store keeps the low 8 bits."""

    __vyre_type__ = DataType.I8


class i16(Scalar):  # noqa: N801 - as u32
    """Element of a buffer, loaded as an i32; a store keeps the low 16 bits."""

    __vyre_type__ = DataType.I16


class i64(Scalar):  # noqa: N801 - as u32
    """Element of a buffer, loaded and stored as a u64 of the same bits."""

    __vyre_type__ = DataType.I64


class Role(Enum):
    """What a buffer parameter is to the host."""

    In = "In"
    Out = "Out"
    InOut = "InOut"
    Uniform = "Uniform"
    Shared = "Shared"
    SharedAtomic = "SharedAtomic"
    Private = "Private"


@dataclass(frozen=True, slots=True)
class BufferAnnotation:
    """What `In[u32]`, `Shared[u32, Literal[64]]` or `In[f32, Literal["m", "k"]]` is at run time."""

    role: Role
    element: Any
    count: Any = 0
    shape: tuple[Any, ...] = ()
    """Names and numbers as `Literal` keeps them, which drops repeated ones; empty for a plain count."""


if TYPE_CHECKING:
    Index = u32 | i32 | int | tuple[u32 | i32 | int, ...]

    class _Buffer(Generic[T, N]):
        @property
        def shape(self) -> tuple[u32, ...]: ...
        @property
        def size(self) -> u32: ...
        def __len__(self) -> int: ...
        @overload
        def __getitem__(self: _Buffer[packed_bytes, Any], index: u32 | i32 | int) -> u32: ...
        @overload
        def __getitem__(self: _Buffer[u8, Any], index: Index) -> u32: ...
        @overload
        def __getitem__(self: _Buffer[u16, Any], index: Index) -> u32: ...
        @overload
        def __getitem__(self: _Buffer[i8, Any], index: Index) -> i32: ...
        @overload
        def __getitem__(self: _Buffer[i16, Any], index: Index) -> i32: ...
        @overload
        def __getitem__(self: _Buffer[i64, Any], index: Index) -> u64: ...
        @overload
        def __getitem__(self, index: Index) -> T: ...
        def __getitem__(self, index: Any) -> Any: ...

    class _Writable(_Buffer[T, N]):
        @overload
        def __setitem__(self: _Writable[packed_bytes, Any], index: u32 | int, value: u32 | int) -> None: ...
        @overload
        def __setitem__(self: _Writable[u8, Any], index: Index, value: u32 | i32 | int) -> None: ...
        @overload
        def __setitem__(self: _Writable[u16, Any], index: Index, value: u32 | i32 | int) -> None: ...
        @overload
        def __setitem__(self: _Writable[i8, Any], index: Index, value: u32 | i32 | int) -> None: ...
        @overload
        def __setitem__(self: _Writable[i16, Any], index: Index, value: u32 | i32 | int) -> None: ...
        @overload
        def __setitem__(self: _Writable[i64, Any], index: Index, value: u64 | int) -> None: ...
        @overload
        def __setitem__(self, index: Index, value: T | float) -> None: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    class In(_Buffer[T, N]):
        """A storage buffer that the kernel reads."""

    class Out(_Writable[T, N]):
        """A storage buffer that the kernel writes; zeros unless the caller passes one."""

    class InOut(_Writable[T, N]):
        """A storage buffer that the kernel reads and writes."""

    class Uniform(_Buffer[T, N]):
        """A small read-only buffer, at most 64 KiB."""

    class Shared(_Writable[T, N]):
        """Memory of one workgroup."""

    class SharedAtomic(_Writable[T, N]):
        """Memory of one workgroup that takes atomics."""

    class Private(_Writable[T, N]):
        """Memory of one invocation."""

else:

    class _Buffer:
        def __class_getitem__(cls, item: Any) -> BufferAnnotation:
            role = Role(cls.__name__)
            if not isinstance(item, tuple):
                return BufferAnnotation(role, item)
            element, *rest = item
            dimensions = get_args(rest[0]) if len(rest) == 1 else ()  # Literal is what type checkers accept
            if len(dimensions) == 1 and isinstance(dimensions[0], int):
                return BufferAnnotation(role, element, dimensions[0], dimensions)
            if dimensions:
                return BufferAnnotation(role, element, 0, dimensions)
            return BufferAnnotation(role, element, rest[0] if len(rest) == 1 else tuple(rest))

    class In(_Buffer): ...

    class Out(_Buffer): ...

    class InOut(_Buffer): ...

    class Uniform(_Buffer): ...

    class Shared(_Buffer): ...

    class SharedAtomic(_Buffer): ...

    class Private(_Buffer): ...
