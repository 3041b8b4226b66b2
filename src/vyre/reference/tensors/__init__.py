"""The evaluator of graphs: one element after another on exact integers, and by definition right.

It knows nothing of programs that compute several elements, of memory or of strides, so that a plan can be
held against it.
"""

from vyre.reference.tensors.elements import Elements
from vyre.reference.tensors.evaluate import evaluate

__all__ = ["Elements", "evaluate"]
