"""What an op is: parameters, statements, and the expression of its result (decision 19)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from types import NoneType

from vyre.errors import OpError
from vyre.ir.expr import Expr
from vyre.ir.limits import MAX_OP_ID_LENGTH
from vyre.ir.node import Node
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType

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


@dataclass(frozen=True, slots=True)
class Op:
    """A value operation. Its body sees its parameters and nothing else.

    `id` is bare for version 1 and ends in `@N` for later ones (decision 20). A Category C op has no
    `result`: it names hardware instead of a composition, and cannot be inlined (V020).
    """

    id: str
    params: tuple[Param, ...]
    output: DataType
    result: Expr | None
    body: tuple[Node, ...] = ()
    category: Category = Category.A
    doc: str = ""

    def __post_init__(self) -> None:
        self._require_parts()
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

    @property
    def version(self) -> int:
        _, _, version = self.id.partition("@")
        return int(version or 1)

    @property
    def signature(self) -> OpSignature:
        return OpSignature(tuple(p.type for p in self.params), self.output)
