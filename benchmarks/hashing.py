"""Hashes of many messages beside those of hashlib and zlib, in one run; on a GPU beside its own limit.

python benchmarks/hashing.py [--backend cpu] [--log2 16] [--size 4096]
python benchmarks/hashing.py --backend cuda --log2 22 --size 64

Results are compared before anything is timed. On the host the best of several calls counts, by the time of
the process: a busy machine changes that little. hashlib and zlib hash one message a call, on one thread.

With `--backend cuda` the messages and their digests stay on the device, and the best of several calls counts,
from the call until the device is done; up to 65,536 messages are compared. SHA-256, and BLAKE3 of all bytes
as one message, are given as a share of the instruction limit: the fewest integer instructions of their
compressions, where a sum of three, a logical function of three and a rotation are one each, at 64 lanes a
cycle and multiprocessor.

    SHA-256     64 rounds of 6 rotations, 4 functions and 4 sums; 48 words of the schedule of 4 rotations,
                2 shifts, 2 functions and 2 sums; 8 sums at the end: 1,384
    BLAKE3      56 mixes of 4 sums, 4 functions and 4 rotations; 8 functions at the end: 680
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre.library import hashing

if TYPE_CHECKING:
    from collections.abc import Callable

SHA256 = 64 * (6 + 4 + 4) + 48 * (4 + 2 + 2 + 2) + 8
BLAKE3 = 56 * (4 + 4 + 4) + 8
INTEGERS = 64
"""Lanes of integer instructions in a cycle, of a multiprocessor of compute capability 8.0 or 9.0."""


def best(
    call: Callable[[], object], clock: Callable[[], float] = time.process_time, rounds: int = 5
) -> float:
    found = float("inf")
    for _ in range(rounds):
        began = clock()
        call()
        found = min(found, clock() - began)
    return found


def beside_peers(rows: Any, backend: str) -> None:
    ours: dict[str, Callable[[], Any]] = {
        "sha256": lambda: hashing.sha256(rows, backend=backend),
        "crc32": lambda: hashing.crc32(rows, backend=backend),
    }
    peers: dict[str, Callable[[], list[Any]]] = {
        "sha256": lambda: [hashlib.sha256(row).digest() for row in rows],
        "crc32": lambda: [zlib.crc32(row) for row in rows],
    }
    for name, call in ours.items():
        refuse(name, call(), peers[name]())
        taken, peer = best(call), best(peers[name])
        speeds = [round(rows.size / seconds / 1e6) for seconds in (taken, peer)]
        print(f"{name}: {speeds[0]} MB/s, peer {speeds[1]}, ratio {peer / taken:.2f}")


def refuse(name: str, found: Any, expected: list[Any]) -> None:
    given = [bytes(row) for row in found] if found.ndim == 2 else found.tolist()
    if given != expected:
        raise SystemExit(f"{name}: the digests differ")


def on_device(rows: Any) -> None:
    from vyre.backends.registry import get

    backend: Any = get("cuda")
    there = vyre.to_device(rows, backend=backend)
    whole = vyre.to_device(rows.reshape(-1), backend=backend)
    kinds = backend.driver.CUdevice_attribute
    cores, kilohertz = (
        int(backend.driver.cuDeviceGetAttribute(kind, backend.device)[1])
        for kind in (
            kinds.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, kinds.CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        )
    )  # fmt: skip
    rate = cores * INTEGERS * kilohertz * 1e3
    print(f"{cores} multiprocessors at {kilohertz / 1e6:.2f} GHz: {rate:.3g} integer instructions a second")
    blocks = len(rows) * ((rows.shape[1] + 72) // 64)
    nodes = -(-rows.size // 64) + -(-rows.size // 1024) - 1
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "sha256": (lambda: hashing.sha256(there), blocks * SHA256),
        "blake3 of all": (lambda: hashing.blake3(whole), nodes * BLAKE3),
        "crc32": (lambda: hashing.crc32(there), 0),
        "crc32 of all": (lambda: hashing.crc32(whole), 0),
        "xxh64": (lambda: hashing.xxh64(there), 0),
    }
    step = max(len(rows) >> 16, 1)
    some = rows[::step]
    refuse("sha256", hashing.sha256(there).numpy()[::step], [hashlib.sha256(row).digest() for row in some])
    refuse("crc32", hashing.crc32(there).numpy()[::step], [zlib.crc32(row) for row in some])
    expected = hashing.blake3(rows.reshape(-1), backend="cpu")
    if not np.array_equal(hashing.blake3(whole).numpy(), expected):
        raise SystemExit("blake3: the digests differ")
    for name, (call, instructions) in calls.items():

        def done(call: Callable[[], Any] = call) -> None:
            call()
            backend.synchronize()

        done()
        taken = best(done, time.perf_counter, 20)
        share = f", {instructions / rate / taken:.2f} of the instruction limit" if instructions else ""
        print(f"{name}: {taken * 1e3:.3f} ms, {rows.size / taken / 1e9:.0f} GB/s{share}")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--log2", type=int, default=16, help="messages, as a power of two")
    parser.add_argument("--size", type=int, default=4096, help="bytes of a message")
    options = parser.parse_args()
    rows = np.random.default_rng(1).integers(0, 256, (1 << options.log2, options.size), dtype=np.uint8)
    print(f"{len(rows)} messages of {options.size} bytes, load {os.getloadavg()[0]:.1f}")
    if options.backend == "cuda":
        on_device(rows)
    else:
        beside_peers(rows, options.backend)


if __name__ == "__main__":
    main()
