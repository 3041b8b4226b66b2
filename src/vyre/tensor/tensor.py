"""`Tensor`: a value of a graph that is being written, with the operators that NumPy and torch users know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from vyre.errors import VyreError, boundary
from vyre.tensor import comparing, elementwise, indexing, products, reductions, shaping
from vyre.tensor.absent import absent
from vyre.tensor.value import Value

if TYPE_CHECKING:
    from typing import TypeAlias


class Tensor(Value):
    """Has a type and no elements: those exist when the function that is traced is called with arrays."""

    __slots__ = ()

    @boundary
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        """`np.float32(2) * tensor` is ours to compute; functions of NumPy are refused, arrays too."""
        name: str = ufunc.__name__
        ours = next((f for m in (elementwise, comparing, products) if (f := getattr(m, name, None))), None)
        if ours is None or len(inputs) != 2 or method != "__call__" or named:
            self.__array_function__(ufunc)
        return ours(*inputs)

    @boundary
    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        name = getattr(function, "__name__", "it")
        raise VyreError(
            f"numpy.{name} does not take a tensor, which has no elements while the function is traced.",
            fix=f"use vyre.tensor.{name} where it exists, or compute on the arrays outside of the function.",
        )

    @classmethod
    @boundary
    def __torch_function__(cls, function: Any, *_: Any) -> NoReturn:
        name = getattr(function, "__name__", "it").strip("_")
        raise VyreError(
            f"torch.{name} does not take a tensor of vyre, which has no elements while it is traced.",
            fix=f"use vyre.tensor.{name} or vyre.nn.{name} where it exists; an array beside a tensor is an "
            "argument of the function, or vyre.tensor.constant(array).",
        )

    if not TYPE_CHECKING:

        @boundary
        def __getattr__(self, name: str) -> NoReturn:
            raise absent(name, of_tensor=True)

    @boundary
    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise VyreError(
            "a tensor cannot be written in place.",
            fix="make another: vyre.tensor.where(condition, a, b), scatter(x, indices, updates) or concat.",
        )

    def __len__(self) -> int:
        size = self.shape[0] if self.shape else 0
        if not isinstance(size, int):
            raise VyreError(
                f"len() needs a fixed number, and the first axis of {self.type} is dynamic.",
                fix="compute with x.shape[0] instead.",
            )
        return size

    def _refuse(self, what: str) -> NoReturn:
        raise VyreError(
            f"{what} needs the elements of a tensor, which has none while the function is traced.",
            fix="compute with tensors: vyre.tensor.where(condition, a, b) chooses, reductions sum up.",
        )

    @boundary
    def __bool__(self) -> bool:
        self._refuse("a condition")

    @boundary
    def __float__(self) -> float:
        self._refuse("float()")

    @boundary
    def __int__(self) -> int:
        self._refuse("int()")

    @boundary
    def __index__(self) -> int:
        self._refuse("a whole number")

    @boundary
    def __format__(self, spec: str) -> str:
        return self._refuse(f"a format such as {spec!r}") if spec else str(self)

    @boundary
    def __iter__(self) -> NoReturn:
        self._refuse("a loop over a tensor")

    @boundary
    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse("NumPy")

    __hash__ = object.__hash__

    # Operators, each defined in the file of its family.

    @boundary
    def __add__(self, other: Operand) -> Tensor:
        return elementwise.add(self, other)

    @boundary
    def __radd__(self, other: Operand) -> Tensor:
        return elementwise.add(other, self)

    @boundary
    def __sub__(self, other: Operand) -> Tensor:
        return elementwise.subtract(self, other)

    @boundary
    def __rsub__(self, other: Operand) -> Tensor:
        return elementwise.subtract(other, self)

    @boundary
    def __mul__(self, other: Operand) -> Tensor:
        return elementwise.multiply(self, other)

    @boundary
    def __rmul__(self, other: Operand) -> Tensor:
        return elementwise.multiply(other, self)

    @boundary
    def __truediv__(self, other: Operand) -> Tensor:
        return elementwise.divide(self, other)

    @boundary
    def __rtruediv__(self, other: Operand) -> Tensor:
        return elementwise.divide(other, self)

    @boundary
    def __floordiv__(self, other: Operand) -> Tensor:
        return elementwise.floor_divide(self, other)

    @boundary
    def __rfloordiv__(self, other: Operand) -> Tensor:
        return elementwise.floor_divide(other, self)

    @boundary
    def __mod__(self, other: Operand) -> Tensor:
        return elementwise.remainder(self, other)

    def __divmod__(self, other: Operand) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    @boundary
    def __rmod__(self, other: Operand) -> Tensor:
        return elementwise.remainder(other, self)

    @boundary
    def __pow__(self, other: Operand) -> Tensor:
        return elementwise.power(self, other)

    @boundary
    def __rpow__(self, other: Operand) -> Tensor:
        return elementwise.power(other, self)

    @boundary
    def __neg__(self) -> Tensor:
        return elementwise.negative(self)

    @boundary
    def __round__(self, digits: int | None = None) -> Tensor:
        if digits:
            raise VyreError(
                f"a tensor cannot be rounded to {digits} digits.",
                fix="round(x * 100) / 100 rounds to two, with a rounding at each step.",
            )
        return elementwise.round(self)

    @boundary
    def __abs__(self) -> Tensor:
        return elementwise.absolute(self)

    @boundary
    def __invert__(self) -> Tensor:
        return elementwise.invert(self)

    @boundary
    def __and__(self, other: Operand) -> Tensor:
        return elementwise.bitwise_and(self, other)

    @boundary
    def __rand__(self, other: Operand) -> Tensor:
        return elementwise.bitwise_and(other, self)

    @boundary
    def __or__(self, other: Operand) -> Tensor:
        return elementwise.bitwise_or(self, other)

    @boundary
    def __ror__(self, other: Operand) -> Tensor:
        return elementwise.bitwise_or(other, self)

    @boundary
    def __xor__(self, other: Operand) -> Tensor:
        return elementwise.bitwise_xor(self, other)

    @boundary
    def __rxor__(self, other: Operand) -> Tensor:
        return elementwise.bitwise_xor(other, self)

    @boundary
    def __lshift__(self, other: Operand) -> Tensor:
        return elementwise.left_shift(self, other)

    @boundary
    def __rshift__(self, other: Operand) -> Tensor:
        return elementwise.right_shift(self, other)

    @boundary
    def __rlshift__(self, other: Any) -> Tensor:
        return elementwise.left_shift(other, self)

    @boundary
    def __rrshift__(self, other: Any) -> Tensor:
        return elementwise.right_shift(other, self)

    @boundary
    def __eq__(self, other: Operand) -> Tensor:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return comparing.equal(self, other)

    @boundary
    def __ne__(self, other: Operand) -> Tensor:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return comparing.not_equal(self, other)

    @boundary
    def __lt__(self, other: Operand) -> Tensor:
        return comparing.less(self, other)

    @boundary
    def __le__(self, other: Operand) -> Tensor:
        return comparing.less_equal(self, other)

    @boundary
    def __gt__(self, other: Operand) -> Tensor:
        return comparing.greater(self, other)

    @boundary
    def __ge__(self, other: Operand) -> Tensor:
        return comparing.greater_equal(self, other)

    @boundary
    def __matmul__(self, other: Tensor) -> Tensor:
        return products.matmul(self, other)

    @boundary
    def __rmatmul__(self, other: Any) -> Tensor:
        return products.matmul(other, self)

    @boundary
    def __getitem__(self, index: Any) -> Tensor:
        return indexing.take_index(self, index)

    # Methods.

    @property
    def T(self) -> Tensor:  # noqa: N802 - the name that everybody knows
        """The axes in reverse."""
        return shaping.transpose(self)

    @boundary
    def transpose(self, *axes: Any) -> Tensor:
        chosen: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return shaping.transpose(self, chosen or None)

    @boundary
    def swapaxes(self, first: int, second: int) -> Tensor:
        return shaping.swapaxes(self, first, second)

    @boundary
    def reshape(self, *shape: Any) -> Tensor:
        return shaping.reshape(
            self, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        )  # pyright: ignore[reportUnknownArgumentType]

    @boundary
    def broadcast_to(self, shape: Any) -> Tensor:
        return shaping.broadcast_to(self, shape)

    @boundary
    def astype(self, element: Any, *, mode: str = "nearest") -> Tensor:
        return comparing.astype(self, element, mode=mode)

    @boundary
    def sum(
        self, axis: Any = None, *, keepdims: bool = False, order: str | None = None, accumulator: Any = None
    ) -> Tensor:
        return reductions.sum(self, axis, keepdims=keepdims, order=order, accumulator=accumulator)

    @boundary
    def prod(
        self, axis: Any = None, *, keepdims: bool = False, order: str | None = None, accumulator: Any = None
    ) -> Tensor:
        return reductions.prod(self, axis, keepdims=keepdims, order=order, accumulator=accumulator)

    @boundary
    def mean(
        self, axis: Any = None, *, keepdims: bool = False, order: str | None = None, accumulator: Any = None
    ) -> Tensor:
        return reductions.mean(self, axis, keepdims=keepdims, order=order, accumulator=accumulator)

    @boundary
    def var(self, axis: Any = None, *, keepdims: bool = False, correction: int = 0) -> Tensor:
        return reductions.var(self, axis, keepdims=keepdims, correction=correction)

    @boundary
    def std(self, axis: Any = None, *, keepdims: bool = False, correction: int = 0) -> Tensor:
        return reductions.std(self, axis, keepdims=keepdims, correction=correction)

    @boundary
    def max(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reductions.max(self, axis, keepdims=keepdims)

    @boundary
    def min(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reductions.min(self, axis, keepdims=keepdims)

    @boundary
    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        return reductions.argmax(self, axis, keepdims=keepdims)

    @boundary
    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        return reductions.argmin(self, axis, keepdims=keepdims)

    @boundary
    def any(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reductions.any(self, axis, keepdims=keepdims)

    @boundary
    def all(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reductions.all(self, axis, keepdims=keepdims)

    @boundary
    def cumsum(self, axis: int = -1, *, accumulator: Any = None) -> Tensor:
        return reductions.cumsum(self, axis, accumulator=accumulator)


if TYPE_CHECKING:
    Operand: TypeAlias = Tensor | float | bool
