"""Soft floats: every strict float operation as one op on U32 bits (decisions 6 to 8).

`soft_ops` lists them, `lowering` names the one that replaces a float node. A value of F32 is its
bits; F16 and BF16 are the low 16 bits of a U32 whose upper bits are zero, in operands and results
alike. No definition calls another, so each can be emitted as a function on its own.
"""

from vyre.numeric.soft.catalogue import lowering, soft_op_for, soft_ops

__all__ = ["lowering", "soft_op_for", "soft_ops"]
