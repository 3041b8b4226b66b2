"""Bytes on a device whose number is not a multiple of sixteen, copied there to memory where it is."""

from __future__ import annotations

import vyre
from vyre import In, Out, u8, u32, vec4

_FOUR = tuple(range(4))


@vyre.kernel(workgroup_size=256)
def sixteens(data: In[u8], out: Out[vec4]) -> None:
    """Sixteen bytes an invocation, with zeros behind the last one."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    w = vyre.private(u32, 4)
    for k in _FOUR:
        for byte in _FOUR:
            w[k] |= data[16 * i + 4 * k + byte] << (8 * byte)
    out[i] = vec4(w[0], w[1], w[2], w[3])
