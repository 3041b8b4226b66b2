"""The four integer kernels that the benchmarks time on every backend."""

from __future__ import annotations

import vyre
from vyre import In, InOut, Out, u32

BLOCK = 256
PER_INVOCATION = 16
BINS = 256


@vyre.kernel(workgroup_size=BLOCK)
def hamming(a: In[u32], b: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        out[i] = vyre.popcount(a[i] ^ b[i])


@vyre.kernel(workgroup_size=BLOCK)
def mix(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        x = a[i]
        x = x ^ (x >> 16)
        x = x * 0x85EBCA6B
        x = x ^ (x >> 13)
        x = x * 0xC2B2AE35
        x = x ^ (x >> 16)
        x = x + 0x9E3779B9
        x = x ^ (x << 7)
        x = x * 0x27D4EB2F
        x = x ^ (x >> 15)
        x = x + (x << 3)
        x = x ^ (x >> 11)
        x = x * 0x165667B1
        x = x ^ (x >> 17)
        out[i] = x


@vyre.kernel(workgroup_size=BLOCK)
def block_sums(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 256)
    local = vyre.local_id(0)
    group = vyre.workgroup_id(0)
    total = u32(0)
    for k in range(PER_INVOCATION):
        total = total + a[group * (BLOCK * PER_INVOCATION) + k * BLOCK + local]
    tile[local] = total
    vyre.barrier()
    for step in range(8):
        reach = u32(128) >> step
        if local < reach:
            tile[local] = tile[local] + tile[local + reach]
        vyre.barrier()
    if local == 0:
        out[group] = tile[0]


@vyre.kernel(workgroup_size=BLOCK)
def histogram(a: In[u32], out: InOut[u32]) -> None:
    bins = vyre.shared(u32, 256, atomic=True)
    local = vyre.local_id(0)
    group = vyre.workgroup_id(0)
    for k in range(PER_INVOCATION):
        vyre.atomic_add(bins, a[group * (BLOCK * PER_INVOCATION) + k * BLOCK + local] >> 24, 1)
    vyre.barrier()
    vyre.atomic_add(out, local, bins[local])
