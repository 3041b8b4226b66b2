"""What an op is: parameters, statements, and the expression of its result (decision 19)."""

from __future__ import annotations

import re
from enum import Enum
from types import NoneType

from vyre.errors import OpError
from vyre.ir.expr import Expr
from vyre.ir.limits import MAX_OP_ID_LENGTH
from vyre.ir.node import Node
from vyre.ir.signature import OpSignature
from vyre.ir.types import STORED_TYPES, DataType
from vyre.slotted import dataclass

MAX_LANES = 32
"""A ballot answers in the bits of a U32."""

_ID = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)+(@[1-9][0-9]*)?")


class Category(Enum):
    """A composes and vanishes; C is one hardware instruction. There is no B."""

    A = "A"
    C = "C"


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    type: DataType

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.type, DataType):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise OpError(
                f"a parameter cannot be {self.name!r} of type {self.type!r}.",
                fix='pass a str and a DataType: Param("x", DataType.U32).',
            )


def _require_value(what: str, t: DataType) -> None:
    """Refuses the types of buffers that a value is never of; validation speaks of `Bytes` (V013)."""
    if t in STORED_TYPES:
        raise OpError(
            f"{what} is {t.value}, a type of buffer elements that no value has.",
            fix=f"declare {t.loaded.value}, the type that an element of {t.value} is loaded as.",
        )


@dataclass(frozen=True, slots=True)
class BackendAvailability:
    """Which backends can have an instruction: `availability(name)` asks, `backends` lists.

    A backend of the list has it on devices that keep `guarantee`; what the device at hand has is in
    `BackendInfo.hardware`, and everybody else raises `UnsupportedByBackend`.
    """

    backends: tuple[str, ...]
    guarantee: str = ""

    def __call__(self, backend: str) -> bool:
        return backend in self.backends


@dataclass(frozen=True, slots=True)
class Op:
    """A value operation. Its body sees its parameters and nothing else.

    `id` is bare for version 1 and ends in `@N` for later ones (decision 20). A Category C op has no
    `result`: it names `hardware` instead of a composition, and its calls stay calls until a backend that has
    the instruction emits it (`compose/hardware.py`). One that names nothing cannot be called (V020).
    """

    id: str
    params: tuple[Param, ...]
    output: DataType
    result: Expr | None
    body: tuple[Node, ...] = ()
    category: Category = Category.A
    doc: str = ""
    hardware: str = ""
    backend_availability: BackendAvailability | None = None
    lanes: int = 1

    def __post_init__(self) -> None:
        self._require_parts()
        for param in self.params:
            _require_value(f"the parameter {param.name} of {self.id}", param.type)
        _require_value(f"the output of {self.id}", self.output)
        self._require_hardware()
        if not _ID.fullmatch(self.id) or len(self.id) > MAX_OP_ID_LENGTH or self.id.endswith("@1"):
            raise OpError(
                f"op id {self.id!r} is malformed.",
                fix="use lower-case names joined by dots, such as acme.hash.mix, then @2, @3 for versions.",
            )

    def _require_parts(self) -> None:
        """Ops come from strangers' packages, so their parts are checked when they are made."""
        parts: dict[str, tuple[tuple[object, ...], type | tuple[type, ...]]] = {
            "id": ((self.id,), str),
            "params": (self.params, Param),
            "output": ((self.output,), DataType),
            "result": ((self.result,), (Expr, NoneType)),
            "body": (self.body, Node),
            "category": ((self.category,), Category),
            "doc": ((self.doc,), str),
            "hardware": ((self.hardware,), str),
            "backend_availability": ((self.backend_availability,), (BackendAvailability, NoneType)),
            "lanes": ((self.lanes,), int),
        }
        for name, (values, kind) in parts.items():
            if not isinstance(values, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise OpError(
                    f"{name} of the op {self.id!r} is a {type(values).__name__}.", fix="pass a tuple."
                )
            wrong = next((value for value in values if not isinstance(value, kind)), self)
            if wrong is not self:
                names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
                raise OpError(
                    f"{name} of the op {self.id!r} holds a {type(wrong).__name__}, not a {names}.",
                    fix="build ops from Param, DataType, expressions and statements, or with @vyre.op.",
                )

    def _require_hardware(self) -> None:
        """An instruction is declared whole and composes nothing; a composition declares none of it."""
        declared = bool(self.hardware), self.backend_availability is not None, self.lanes != 1
        if not any(declared):
            return
        if self.category is not Category.C or self.result is not None or self.body:
            raise OpError(
                f"the op {self.id} declares hardware but is not an instruction.",
                fix="make it Category C without body and result: there is no software fallback.",
            )
        if not (self.hardware and self.backend_availability is not None):
            raise OpError(
                f"the instruction {self.id} must name its hardware and say which backends have it.",
                fix='pass hardware="…" and backend_availability=BackendAvailability((…,)).',
            )
        if not 1 <= self.lanes <= MAX_LANES or self.lanes & (self.lanes - 1):
            raise OpError(
                f"the instruction {self.id} cannot be of {self.lanes} lanes.",
                fix=f"use a power of two up to {MAX_LANES}.",
            )

    @property
    def version(self) -> int:
        _, _, version = self.id.partition("@")
        return int(version or 1)

    @property
    def signature(self) -> OpSignature:
        return OpSignature(tuple(p.type for p in self.params), self.output)
