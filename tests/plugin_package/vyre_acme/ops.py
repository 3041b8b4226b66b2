"""The ops of the package."""

from vyre import DataType, Op, Param, Var

X = Var("x")
OPS = [
    Op("acme.mix", (Param("x", DataType.U32),), DataType.U32, (X ^ X >> 16) * 0x45D9F3B, doc="Mixes bits.")
]
