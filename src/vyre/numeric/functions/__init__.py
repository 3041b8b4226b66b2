"""Correctly rounded functions on integers alone: exact wherever U32 arithmetic is.

`function_op` gives the op of a function and a format, `function_ops` all of them. Like the other soft ops
they take and give the bits of F32, or of F16 and BF16 in the low half of a U32. Each rounds once, to
nearest, ties to even; NaN is canonical (decision 7). `docs/functions.md` has the error bounds.
"""

from vyre.numeric.functions.catalogue import FUNCTIONS, function_op, function_ops, undecided_op

__all__ = ["FUNCTIONS", "function_op", "function_ops", "undecided_op"]
