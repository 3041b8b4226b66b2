"""SHA-256 of many messages at once, one an invocation, with a private schedule; compared with hashlib.

python examples/sha256_messages.py
python examples/sha256_messages.py --backend cuda --messages 100000
"""

from __future__ import annotations

import argparse
import hashlib
import time
from math import isqrt
from typing import Literal

import numpy as np

import vyre
from vyre import In, Out, u32

PRIMES = [n for n in range(2, 312) if all(n % d for d in range(2, n))][:64]


def cube_root_bits(number: int) -> int:
    """The first 32 bits of the fraction of a cube root, in whole numbers."""
    low, high = 0, 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= number << 96 else (low, middle)
    return low & 0xFFFFFFFF


ROUND = tuple(cube_root_bits(p) for p in PRIMES)
START = tuple(isqrt(p << 64) & 0xFFFFFFFF for p in PRIMES[:8])


def turned(x: u32, n: u32) -> u32:
    return (x >> n) | (x << (32 - n))


@vyre.kernel
def sha256(blocks: In[u32, Literal["n", "b", 16]], out: Out[u32, Literal["n", 8]]) -> None:
    schedule = vyre.private(u32, 64)
    state = vyre.private(u32, 8)
    v = vyre.private(u32, 8)
    i = vyre.invocation_id(0)
    if i >= out.shape[0]:
        return
    for k in range(8):
        state[k] = START[k]
    for block in range(blocks.shape[1]):
        for t in range(16):
            schedule[t] = blocks[i, block, t]
        for t in range(16, 64):
            late, early = schedule[t - 2], schedule[t - 15]
            s0 = turned(early, u32(7)) ^ turned(early, u32(18)) ^ (early >> 3)
            s1 = turned(late, u32(17)) ^ turned(late, u32(19)) ^ (late >> 10)
            schedule[t] = schedule[t - 16] + s0 + schedule[t - 7] + s1
        for k in range(8):
            v[k] = state[k]
        for t in range(64):
            a, e = v[0], v[4]
            s1 = turned(e, u32(6)) ^ turned(e, u32(11)) ^ turned(e, u32(25))
            first = v[7] + s1 + ((e & v[5]) ^ (~e & v[6])) + ROUND[t] + schedule[t]
            s0 = turned(a, u32(2)) ^ turned(a, u32(13)) ^ turned(a, u32(22))
            second = s0 + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]))
            for k in range(7, 0, -1):
                v[k] = v[k - 1]
            v[4] += first
            v[0] = first + second
        for k in range(8):
            state[k] += v[k]
    for k in range(8):
        out[i, k] = state[k]


def padded(messages: list[bytes]) -> np.ndarray:
    """[messages, blocks, 16] big-endian words; all messages are of one length."""
    length = len(messages[0])
    tail = b"\x80" + bytes(-(length + 9) % 64) + (8 * length).to_bytes(8, "big")
    words = np.frombuffer(b"".join(m + tail for m in messages), ">u4").astype(np.uint32)
    return words.reshape(len(messages), -1, 16)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", help="where to run [the default]")
    parser.add_argument("--messages", type=int, default=300)
    options = parser.parse_args(arguments)
    messages = [f"message number {k:08}".encode() for k in range(options.messages)]
    blocks = padded(messages)
    sha256(blocks, backend=options.backend)  # compiles
    began = time.perf_counter()
    found = sha256(blocks, backend=options.backend)
    taken = time.perf_counter() - began
    digests = [row.astype(">u4").tobytes() for row in found]
    if digests != [hashlib.sha256(m).digest() for m in messages]:
        raise SystemExit("hashlib says otherwise")
    print(f"{len(messages)} digests, all equal to hashlib's")
    print(f"the last one: {digests[-1].hex()}")
    if options.messages >= 10_000:
        print(f"{len(messages) / taken:.3g} messages a second, through the call")


if __name__ == "__main__":
    main()
