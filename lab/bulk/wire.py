"""Feeds mutated wire forms to the decoder: nothing but `WireError` or a canonical program may come out.

    python -m lab.bulk.wire --count 10000000 --seed 1 --jobs 2
    python -m lab.bulk.wire --seed 1 --replay 123456        prints one input in hex

Most mutants get a right length and digest again, so that they reach the tables. Mutants that are
accepted are mutated further. Input k is a function of the seed and k alone, whatever `--jobs` is.
Ends with status 1 when an input did anything else, and prints that input.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from vyre.errors import WireError
from vyre.wire import MAGIC, VERSION, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre.ir import Program

GOLDEN: Final = Path(__file__).parents[2] / "tests" / "wire" / "golden"
CHUNK: Final = 5_000
"""Inputs that share one generator: the unit of work, and what a replay runs through."""

POOL: Final = 64
"""How many accepted mutants a chunk keeps to mutate further."""

SPECIAL: Final = (0, 1, 2, 3, 11, 126, 127, 128, 129, 254, 255)
BLOWUPS: Final = (
    b"\x80\x00",
    b"\xff\x7f",
    b"\x80\x80\x00",
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x10",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\xff" * 12,
)


@dataclass
class Tally:
    """What became of the inputs; `failures` are the inputs that broke the promise, and how."""

    refused: int = 0
    accepted: int = 0
    failures: list[tuple[int, str, bytes]] = field(default_factory=list[tuple[int, str, bytes]])
    reasons: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Tally) -> None:
        self.refused += other.refused
        self.accepted += other.accepted
        self.failures += other.failures
        self.reasons += other.reasons


def frame(payload: bytes) -> bytes:
    """A payload with the length and digest that belong to it."""
    length = bytearray()
    rest = len(payload)
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    length.append(rest)
    return MAGIC + bytes([VERSION]) + length + sha256(payload).digest() + payload


def payload_of(data: bytes) -> bytes:
    pos = len(MAGIC) + 1
    while data[pos] > 127:
        pos += 1
    return data[pos + 33 :]


def corpus() -> list[bytes]:
    """The payloads of the golden files, shortest first."""
    payloads = [payload_of(path.read_bytes()) for path in sorted(GOLDEN.glob("*.bin"))]
    return sorted(payloads, key=lambda payload: (len(payload), payload))


def mutate(rng: Random, data: bytearray, other: bytes) -> None:
    """One change in place."""
    random = rng.random
    size = len(data)
    at = int(random() * size)
    kind = int(random() * 12)
    if not size:
        data += other[:8]
    elif kind <= 1:
        data[at] ^= 1 << int(random() * 8)
    elif kind == 2:
        data[at] = int(random() * 256)
    elif kind == 3:
        data[at] = SPECIAL[int(random() * len(SPECIAL))]
    elif kind <= 5:
        data[at] = (data[at] + (1 if random() < 0.5 else -1)) % 256
    elif kind == 6:
        data.insert(at, SPECIAL[int(random() * len(SPECIAL))])
    elif kind == 7:
        del data[at : at + 1 + int(random() * 4)]
    elif kind == 8:
        data[at : at + 1] = BLOWUPS[int(random() * len(BLOWUPS))]
    elif kind == 9:
        there = int(random() * size)
        data[at], data[there] = data[there], data[at]
    elif kind == 10:
        length = 1 + int(random() * 8)
        data[at:at] = data[at : at + length]
    elif random() < 0.5:
        del data[at:]
    else:
        cut = int(random() * len(other)) if random() < 0.5 else at
        data[at:] = other[cut:]


def inputs(seed: int, chunk: int, kept: list[bytes]) -> Iterator[bytes]:
    """The inputs of a chunk. The caller puts payloads of accepted inputs into `kept` as it goes."""
    rng = Random(f"{seed}/{chunk}")
    random = rng.random
    seeds = corpus()
    for _ in range(CHUNK):
        if kept and random() < 0.4:
            chosen = kept[int(random() * len(kept))]
        else:
            chosen = seeds[int(random() * random() * len(seeds))]
        other = seeds[int(random() * len(seeds))]
        framed = random() < 0.1
        data = bytearray(frame(chosen) if framed else chosen)
        for _ in range(1 + int(random() * random() * 4)):
            mutate(rng, data, other)
        yield bytes(data) if framed else frame(bytes(data))


def fuzz_chunk(
    chunk: int,
    *,
    seed: int,
    count: int,
    read: Callable[[bytes], Program] = decode,
    write: Callable[[Program], bytes] = encode,
) -> Tally:
    """Runs the inputs of one chunk, up to the input number `count`."""
    tally = Tally()
    kept: list[bytes] = []
    for number, data in enumerate(inputs(seed, chunk, kept), chunk * CHUNK):
        if number >= count:
            break
        try:
            program = read(data)
        except WireError as error:
            tally.refused += 1
            tally.reasons[error.message] += 1
            if error.offset is None or not 0 <= error.offset <= len(data) or not error.fix:
                tally.failures.append((number, f"an error without a place or a fix: {error}", data))
            continue
        except Exception as error:
            tally.failures.append((number, f"{type(error).__name__}: {error}", data))
            continue
        try:
            same = write(program) == data
        except Exception as error:
            tally.failures.append((number, f"accepted, then {type(error).__name__}: {error}", data))
            continue
        tally.accepted += 1
        if not same:
            tally.failures.append((number, "accepted, but not canonical", data))
        elif len(data) < 400:
            kept.append(payload_of(data))
            if len(kept) > POOL:
                del kept[number % POOL]
    merged: Counter[str] = Counter()
    for reason, times in tally.reasons.items():
        merged[re.sub(r"\d+", "N", reason)] += times
    tally.reasons = merged
    return tally


def fuzz(count: int, seed: int, jobs: int) -> Tally:
    total = Tally()
    work = partial(fuzz_chunk, seed=seed, count=count)
    chunks = range((count + CHUNK - 1) // CHUNK)
    if jobs == 1:
        for chunk in chunks:
            total.add(work(chunk))
        return total
    with ProcessPoolExecutor(jobs) as pool:
        for tally in pool.map(work, chunks, chunksize=4):
            total.add(tally)
    return total


def replay(seed: int, number: int) -> bytes:
    """Input `number` again; the chunk is run up to it, because accepted mutants steer what follows."""
    found: list[bytes] = []

    def remember(data: bytes) -> Program:
        found.append(data)
        return decode(data)

    fuzz_chunk(number // CHUNK, seed=seed, count=number + 1, read=remember)
    return found[-1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--reasons", action="store_true", help="also count the errors by message")
    parser.add_argument("--replay", type=int, metavar="K", help="print input K in hex and stop")
    options = parser.parse_args()
    if options.replay is not None:
        print(replay(options.seed, options.replay).hex())
        return 0

    start = time.perf_counter()
    total = fuzz(options.count, options.seed, options.jobs)
    seconds = time.perf_counter() - start
    if options.reasons:
        for reason, times in total.reasons.most_common():
            print(f"{times:9}  {reason}")
    for number, what, data in total.failures[:10]:
        print(f"input {number}: {what}\n    {data.hex()}")
    print(
        f"lab.bulk.wire --count {options.count} --seed {options.seed}: "
        f"{total.refused} refused with WireError, {total.accepted} accepted and canonical, "
        f"{len(total.failures)} failures; {seconds:.0f} s, {options.count / seconds:.0f} inputs/s, "
        f"{options.jobs} jobs"
    )
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
