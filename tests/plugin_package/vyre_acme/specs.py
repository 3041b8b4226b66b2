"""What the package promises about its op."""

from typing import Any

from vyre import Call, DataType
from vyre.conform.spec.op import EquivalenceClass, ExpressionForm, OpSpec
from vyre.ir.signature import OpSignature


def mix(d: Any, x: Any) -> Any:
    return d.mul(d.xor(x, d.shr(x, d.const(16))), d.const(0x45D9F3B))


LOW = EquivalenceClass(
    "nothing above bit 15",
    lambda d, x: d.eq(d.shr(x, d.const(16)), d.const(0)),
    lambda d, x: d.and_(x, d.const(0xFFFF)),
)

SPECS = [
    OpSpec(
        "acme.mix",
        OpSignature((DataType.U32,), DataType.U32),
        mix,
        ExpressionForm(lambda x: Call("acme.mix", x)),
        "Mixes bits.",
        classes=(LOW,),
        boundaries=((0, 1, 0xFFFF, 0x10000, 0xFFFFFFFF),),
    )
]
