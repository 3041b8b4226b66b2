"""Calls inside a kernel: functions of vyre, types, ops, and plain Python functions as ops.

A plain function that a kernel calls becomes an op `local.<name>`, once per kernel, and the call a `Call`
that inlining removes.
"""

from __future__ import annotations

import builtins
import inspect
import math
import re
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from vyre.errors import OpError, VyreError, counted
from vyre.frontend import builtins as language
from vyre.frontend.elsewhere import ELSEWHERE
from vyre.frontend.expressions import is_sequence, wrap
from vyre.frontend.intrinsics import build, length
from vyre.frontend.operators import coerce
from vyre.frontend.retyping import type_name
from vyre.frontend.signature import value_type
from vyre.frontend.typed import typed
from vyre.frontend.values import BeyondOps, Buffer, Const, Operand, PyObject, Refused, Value, describe
from vyre.ir.expr import Call
from vyre.ir.limits import MAX_CALL_DEPTH
from vyre.ir.op import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vyre.frontend.scalars import Scalars

_PYTHON: dict[Any, str] = {builtins.min: "min", builtins.max: "max", abs: "abs", round: "round"}
_OF_TABLES = (builtins.min, builtins.max, sum)
_HINTS: dict[Any, str] = {
    int: 'vyre.convert(x, u32, mode="truncate") drops the fraction and saturates; i32 likewise.',
    float: "vyre.convert(x, f32) rounds to nearest; math.inf and math.nan are constants.",
    bool: "compare it: x != 0.",
    print: "write vyre.debug_print(…), which prints when the call is over.",
    range: "use it in a `for` statement.",
    sum: "write a `for` loop, or vyre.freduce for floats.",
    divmod: "write x // y and x % y.",
    complex: "keep the real and the imaginary part in two floats.",
    enumerate: "write `for i in range(len(a))`.",
    zip: "write `for i in range(len(a))`.",
    any: "write a `for` loop with a flag, or x or y for few values.",
    all: "write a `for` loop with a flag, or x and y for few values.",
    sorted: "sort constants above the kernel; vyre.engines sorts arrays on the host.",
    ord: "write ord('a'), the number of one character.",
    pow: "write vyre.pow(x, y) for floats, or a product.",
}
_OUTSIDE_OPS = frozenset(
    {"invocation_id", "workgroup_id", "local_id", "grid", "num_workgroups", "num_invocations"}
    | {"barrier", "shared", "private", "debug_print"}
)


_OP_NAMES = ("__module__", "__name__", "__qualname__", "__doc__")


class OpFunction:
    """A Python function that is an op; calls of it have a meaning only inside kernels and ops.

    `op` is the definition and `ops` the definition with every local op it calls.
    """

    __wrapped__: FunctionType | None = None
    """The function; None for an op that came from another process, which needs no source."""

    def __init__(self, function: FunctionType, op: Op | None, callees: Iterable[Op]) -> None:
        self.__wrapped__ = function
        self._begin({name: getattr(function, name) for name in _OP_NAMES}, op, tuple(callees))
        self.defaults = _plain_defaults(function)

    def _begin(self, names: Mapping[str, Any], op: Op | None, callees: tuple[Op, ...]) -> None:
        for name, value in names.items():
            setattr(self, name, value)
        self._op = op
        self.ops = (op, *callees) if op is not None else ()

    __name__: str
    __qualname__: str
    defaults: dict[str, Any]
    """Of its parameters."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By value, like a kernel; one that takes buffers is a function, and goes by its name as those do."""
        if self._op is None:
            return self.__qualname__
        names = {name: getattr(self, name) for name in _OP_NAMES}
        return _restored, (type(self), names, self.ops, self.defaults)

    @property
    def op(self) -> Op:
        """The definition. A function that takes buffers has none: it is written out where it is called."""
        if self._op is None:
            raise VyreError(
                f"{self.__name__} takes buffers, so it is not an op of its own.", fix="call it in a kernel."
            )
        return self._op

    def __repr__(self) -> str:
        return f"<vyre.op {self._op.id if self._op else self.__name__}>"


class Linker:
    """The ops of one kernel that the default registry does not know, and the calls of them.

    `translate` makes the op of a plain function under the id it is given; what that function calls comes
    back here.
    """

    def __init__(self, translate: Callable[[FunctionType, str, Linker], Op]) -> None:
        self._translate = translate
        self.ops: dict[str, Op] = {}
        self._compiled: dict[FunctionType, Op] = {}
        self._open: list[FunctionType] = []

    def call(
        self,
        function: PyObject,
        args: list[Operand],
        keywords: dict[str, Operand],
        *,
        scalars: Scalars | None,
    ) -> Operand:
        """The operand of `function(*args, **keywords)`; `scalars` is None inside an op."""
        target = function.value
        builtin = getattr(target, "__vyre_builtin__", None) or _python_builtin(target)
        if (known := _of_table(target, args)) is not None and not keywords:
            return known
        if builtin is not None:
            return self._builtin(builtin, args, keywords, scalars)
        kind = value_type(target)
        if isinstance(target, Op):
            return self._apply(self.link(target), args, keywords)
        if isinstance(target, OpFunction):
            if not target.ops:
                raise BeyondOps
            for op in target.ops:
                self.link(op)
            defaults = {name: wrap(value) for name, value in target.defaults.items()}
            return self._apply(target.op, args, keywords, defaults)
        if isinstance(target, FunctionType):
            return self._apply(self._compile(target), args, keywords, defaults_of(target))
        if keywords:
            raise Refused(f"{describe(function)} takes no keywords here.", "pass plain arguments.")
        if kind is not None:
            return typed(kind, args)
        if target is len:
            return _length(args, scalars)
        return _host_function(function, args)

    def _builtin(
        self, name: str, args: list[Operand], keywords: dict[str, Operand], scalars: Scalars | None
    ) -> Operand:
        if scalars is None and name in _OUTSIDE_OPS:
            raise Refused(
                f"vyre.{name} has no meaning in an op, which sees only its arguments.",
                "call it in the kernel and pass the value.",
            )
        try:
            bound = _signature(name).bind(*args, **keywords)
        except TypeError as error:
            if name == "round" and len(args) == 2:
                raise Refused(
                    "round() takes one value here: it rounds to a whole number.",
                    "write vyre.round(x * 100.0) / 100.0 for two digits behind the point.",
                ) from error
            plain = ", ".join(
                f"{p.name}=…" if p.kind is p.KEYWORD_ONLY else str(p).partition(":")[0]
                for p in _signature(name).parameters.values()
                if p.kind is not p.VAR_POSITIONAL
            )
            raise Refused(f"vyre.{name}: {error}.", f"write vyre.{name}({plain}).") from error
        given = dict(bound.arguments)
        for parameter in _signature(name).parameters.values():
            if parameter.default is not parameter.empty and parameter.name not in given:
                default = parameter.default
                given[parameter.name] = Const(default) if isinstance(default, bool) else PyObject(default)
        if name == "call":
            return self._by_id(given["op_id"], list(given.get("args", ())))
        return build(name, given, scalars)

    def _by_id(self, op_id: Operand, args: list[Operand]) -> Value:
        from vyre.compose.registry import default_registry, own_registry

        if not (isinstance(op_id, PyObject) and isinstance(op_id.value, str)):
            raise Refused(f"the op id is {describe(op_id)}.", 'write it as text: vyre.call("acme.mix", x).')
        name = op_id.value
        op = self.ops.get(name) or own_registry().get(name)
        try:
            op = op or default_registry().get(name)
        except OpError as error:
            raise Refused(f"vyre itself has no op {name!r}, and {error.message}", error.fix) from error
        if op is None:
            import difflib

            close = difflib.get_close_matches(name, [o.id for o in default_registry()], n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise Refused(
                f"no op is registered as {name!r}.",
                f"{hint}Register an Op with id {name}, or call it directly.",
            )
        return self._apply(op, args)

    def link(self, op: Op) -> Op:
        """Makes an op known to this kernel, unless it is one of ours."""
        from vyre.compose.registry import own_registry

        known = own_registry().get(op.id) or self.ops.setdefault(op.id, op)
        if known != op:
            raise Refused(
                f"two different ops are called {op.id}.", "give one of them another id or a new version."
            )
        return op

    def _apply(
        self,
        op: Op,
        args: list[Operand],
        keywords: Mapping[str, Operand] | None = None,
        defaults: Mapping[str, Operand] | None = None,
    ) -> Value:
        given = bind_call(
            op.id, [p.name for p in op.params], defaults or {}, args, keywords or {},
            shown=", ".join(f"{p.name}: {type_name(p.type)}" for p in op.params),
        )  # fmt: skip
        exprs = [coerce(given[p.name], p.type, f"`{p.name}` of {op.id}").expr for p in op.params]
        return Value(Call(op.id, tuple(exprs)), op.output)

    def _compile(self, function: FunctionType) -> Op:
        if function in self._compiled:
            return self._compiled[function]
        if function.__name__ == "<lambda>":
            raise Refused("a lambda has no annotations.", "define it with `def` and annotated parameters.")
        if function in self._open:
            path = " → ".join(f.__name__ for f in [*self._open[self._open.index(function) :], function])
            raise Refused(f"recursion has no meaning in a kernel: {path}.", "write a `for` loop.")
        if len(self._open) >= MAX_CALL_DEPTH:
            raise Refused(
                f"functions call each other more than {MAX_CALL_DEPTH} levels deep.",
                "merge some of the functions.",
            )
        self._open.append(function)
        try:
            op = self._translate(function, self._fresh_id(function.__name__), self)
        finally:
            self._open.pop()
        self._compiled[function] = op
        return self.link(op)

    def _fresh_id(self, name: str) -> str:
        stem = "local." + re.sub(r"[^a-z0-9_]", "_", name.lower())
        taken = {*self.ops, *(op.id for op in self._compiled.values())}
        number = 1
        op_id = stem
        while op_id in taken:
            number += 1
            op_id = f"{stem}_{number}"
        return op_id


def bind_call(
    function: str,
    names: Sequence[str],
    defaults: Mapping[str, Operand],
    args: Sequence[Operand],
    keywords: Mapping[str, Operand],
    *,
    shown: str = "",
) -> dict[str, Operand]:
    """The arguments of a call by parameter, as Python binds them."""
    fix = f"pass ({shown or ', '.join(names)})."
    if len(args) > len(names):
        raise Refused(f"{function} takes {counted(len(names), 'argument')} and got {len(args)}.", fix)
    given = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name not in names:
            raise Refused(f"{function} has no parameter {name!r}.", fix)
        if name in given:
            raise Refused(f"{function} got {name!r} twice.", "pass it once.")
        given[name] = value
    missing = [name for name in names if name not in given and name not in defaults]
    if missing:
        raise Refused(
            f"{function} is missing the argument{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}.",
            fix,
        )
    return {**defaults, **given}


def defaults_of(function: FunctionType) -> dict[str, Operand]:
    """The default arguments of a function, which are constants of the kernel."""
    return {name: wrap(value) for name, value in _plain_defaults(function).items()}


def _plain_defaults(function: FunctionType) -> dict[str, Any]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    return dict(zip(names[len(names) - len(values) :], values, strict=True))


def _restored(
    kind: type[OpFunction], names: Mapping[str, Any], ops: tuple[Op, ...], defaults: dict[str, Any]
) -> OpFunction:
    made = kind.__new__(kind)
    made._begin(names, ops[0], ops[1:])
    made.defaults = defaults
    return made


def _length(args: list[Operand], scalars: Scalars | None) -> Operand:
    """`len(a)`: the first dimension, as in Python; the number of elements where there is but one."""
    match args:
        case [Buffer(shape=(first, _, *_))]:
            assert scalars is not None
            return scalars.dimension(first)
        case [Buffer(decl=decl)]:
            return length(decl)
        case [PyObject(value=table)] if is_sequence(table):
            return Const(len(table))
        case _:
            raise Refused("len() takes one buffer.", "write len(a).")


def _host_function(function: PyObject, args: list[Operand]) -> Operand:
    target: Callable[..., Any] = function.value
    if getattr(math, getattr(target, "__name__", ""), None) is target:
        if not all(isinstance(a, Const) for a in args):
            name = target.__name__
            here = "abs" if name == "fabs" else name
            hint = f"write vyre.{here}(x)." if hasattr(language, here) else "compute it from vyre functions."
            raise Refused(f"math.{name} works on constants only.", hint)
        try:
            return Const(target(*(a.value for a in args if isinstance(a, Const))))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Refused(f"the constant cannot be computed: {error}.", "write a number.") from error
    if hasattr(target, "source_program"):
        raise Refused(
            f"{describe(function)} is a kernel, and a kernel cannot call another.",
            "put what both do into a plain function with annotated parameters, and call that in each.",
        )
    if target is ord and len(args) == 1 and isinstance(args[0], PyObject) and _is_character(args[0].value):
        return Const(ord(args[0].value))
    hint = _HINTS.get(target) if getattr(target, "__hash__", None) else None
    name = getattr(target, "__name__", "")
    if hint is None and type(target).__module__ in ("numpy", "builtins"):
        hint = ELSEWHERE.get(name) or (f"write vyre.{name}(…)." if hasattr(language, name) else None)
    raise Refused(
        f"{describe(function)} cannot be called in a kernel.",
        hint or "call vyre functions, ops, or plain functions with annotated parameters.",
    )


def _is_character(value: Any) -> bool:
    return isinstance(value, (str, bytes)) and len(value) == 1


def _of_table(target: Any, args: list[Operand]) -> Operand | None:
    """`sum`, `min` or `max` of a table of plain numbers, which is known now."""
    found: Any = args[0].value if len(args) == 1 and isinstance(args[0], PyObject) else None
    if not isinstance(found, (list, tuple, bytes)) or not found or not any(target is f for f in _OF_TABLES):
        return None
    numbers: list[Any] = [*found]
    return Const(target(numbers)) if all(type(v) in (int, float) for v in numbers) else None


def _python_builtin(target: Any) -> str | None:
    return next((name for function, name in _PYTHON.items() if function is target), None)


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(getattr(language, name))
