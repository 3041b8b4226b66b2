"""What an op is: parameters, statements, and the expression of its result (decision 19)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.limits import MAX_OP_ID_LENGTH
from vyre.ir.signature import OpSignature

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
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
        if not _ID.fullmatch(self.id) or len(self.id) > MAX_OP_ID_LENGTH or self.id.endswith("@1"):
            raise OpError(
                f"op id {self.id!r} is malformed.",
                fix="use lower-case names joined by dots, such as acme.hash.mix, then @2, @3 for versions.",
            )

    @property
    def version(self) -> int:
        _, _, version = self.id.partition("@")
        return int(version or 1)

    @property
    def signature(self) -> OpSignature:
        return OpSignature(tuple(p.type for p in self.params), self.output)
