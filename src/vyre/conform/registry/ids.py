"""The ids of the primitives (decision 20), as names for laws to mention."""

from __future__ import annotations

ADD = "primitive.math.add"
SUB = "primitive.math.sub"
MUL = "primitive.math.mul"
DIV = "primitive.math.div"
MOD = "primitive.math.mod"
NEGATE = "primitive.math.negate"
MUL_HI = "primitive.math.mul_hi"

AND = "primitive.bitwise.and"
OR = "primitive.bitwise.or"
XOR = "primitive.bitwise.xor"
NOT = "primitive.bitwise.not"
SHL = "primitive.bitwise.shl"
SHR = "primitive.bitwise.shr"
POPCOUNT = "primitive.bitwise.popcount"
CLZ = "primitive.bitwise.clz"
CTZ = "primitive.bitwise.ctz"
REVERSE = "primitive.bitwise.reverse_bits"

EQ = "primitive.compare.eq"
NE = "primitive.compare.ne"
LT = "primitive.compare.lt"
GT = "primitive.compare.gt"
LE = "primitive.compare.le"
GE = "primitive.compare.ge"

LOGICAL_AND = "primitive.logical.and"
LOGICAL_OR = "primitive.logical.or"
LOGICAL_NOT = "primitive.logical.not"
