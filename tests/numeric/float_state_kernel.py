"""Kernels whose constants a parser and a translator have to round."""

import vyre
from vyre import f32, u32


@vyre.kernel
def literals(out: vyre.Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = 0.1 + 88.722839 * 1.4e-45 - 3.3333333e38


@vyre.kernel
def scaled(x: vyre.In[f32], out: vyre.Out[f32], flags: vyre.Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] * (0.1 / 0.3) + 5e-324
    flags[i] = 1 if 5e-324 > 0.0 else 0
