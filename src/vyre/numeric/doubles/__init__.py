"""The functions of F32 in doubles: what `numeric.functions` has on integers, fast where F64 is native."""

from vyre.numeric.doubles.catalogue import double_op, double_ops

__all__ = ["double_op", "double_ops"]
