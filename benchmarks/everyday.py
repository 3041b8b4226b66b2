"""Fields of CSV, expressions, replaced words, blocks of LZ4, runs, and sparse products beside their peers.

python benchmarks/everyday.py [--backend cpu] [--rounds 9]

The peers are `csv`, `re`, `bytes`, `lz4`, NumPy and SciPy. Results are compared before anything is timed.
Ours and the peer take turns; medians of the time of the process, all threads together, and of its ratio
count: a busy machine changes these little. More than 1 means that ours is faster.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lz4.block as _lz4
import numpy as np
import scipy.sparse

from vyre.library import decoding, graphs, strings
from vyre.library.matching import Regex

if TYPE_CHECKING:
    from collections.abc import Callable

lz4: Any = _lz4  # has no types
PATTERN = rb"[a-z]+ \d+"
TEXT = b"".join(b'%d,name %d,"quo, ""ted",%.5f\n' % (i, i % 77, i / 7) for i in range(200_000))


def taken(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return 1e3 * (time.process_time() - started)


def told(what: str, ours: Callable[[], Any], peer: str, theirs: Callable[[], Any], rounds: int) -> None:
    found = np.array([(taken(ours), taken(theirs)) for _ in range(rounds)])
    mine, other = np.median(found, axis=0)
    ratio = np.median(found[:, 1] / found[:, 0])
    load = os.getloadavg()[0]
    print(f"{what:40} {mine:7.1f} ms  {peer:14} {other:7.1f} ms  {ratio:5.2f}x  load {load:.0f}", flush=True)


def texts(backend: str, rounds: int) -> None:
    fields = strings.csv_fields(TEXT, backend=backend)
    rows = list(csv.reader(io.StringIO(TEXT.decode(), newline="")))
    assert np.diff(fields.rows).tolist() == [len(row) for row in rows]
    expression = Regex(PATTERN)
    assert expression.spans(TEXT, backend=backend).tolist() == [
        list(m.span()) for m in re.finditer(PATTERN, TEXT)
    ]
    assert strings.replace(TEXT, b"name", b"n", backend=backend).tobytes() == TEXT.replace(b"name", b"n")
    size = f"{len(TEXT) / 1e6:.1f} MB"
    told(
        f"fields of CSV, {size}",
        lambda: strings.csv_fields(TEXT, backend=backend),
        "csv.reader",
        lambda: list(csv.reader(io.StringIO(TEXT.decode(), newline=""))),
        rounds,
    )
    told(
        f"spans of an expression, {size}",
        lambda: expression.spans(TEXT, backend=backend),
        "re.finditer",
        lambda: [m.span() for m in re.finditer(PATTERN, TEXT)],
        rounds,
    )
    told(
        f"a word replaced, {size}",
        lambda: strings.replace(TEXT, b"name", b"n", backend=backend),
        "bytes.replace",
        lambda: TEXT.replace(b"name", b"n"),
        rounds,
    )


def blocks(backend: str, rounds: int) -> None:
    """The modules of Python's library, in blocks of 64 KiB."""
    text = b"".join(path.read_bytes() for path in sorted(Path(os.__file__).parent.glob("*.py")))
    parts = [text[k : k + 65_536] for k in range(0, len(text), 65_536)]
    packed, offsets = decoding.encode_lz4(parts, backend=backend)
    theirs = [lz4.compress(part, store_size=False) for part in parts]
    assert decoding.decode_lz4(packed, offsets=offsets, backend=backend).checked() == parts
    size = f"{len(text) / 1e6:.1f} MB"
    print(f"LZ4: {size} to {len(packed) / len(text):.3f}, by lz4 to {sum(map(len, theirs)) / len(text):.3f}")
    told(
        f"packed as LZ4, {size}",
        lambda: decoding.encode_lz4(parts, backend=backend),
        "lz4",
        lambda: [lz4.compress(part, store_size=False) for part in parts],
        rounds,
    )
    told(
        f"unpacked, {size}",
        lambda: decoding.decode_lz4(packed, offsets=offsets, backend=backend),
        "lz4",
        lambda: [
            lz4.decompress(block, uncompressed_size=len(part))
            for block, part in zip(theirs, parts, strict=True)
        ],
        rounds,
    )


def numbers(backend: str, rounds: int) -> None:
    rng = np.random.default_rng(2)
    values, lengths = rng.integers(0, 9, (2, 1 << 20), dtype=np.uint32)
    assert (decoding.decode_runs(values, lengths, backend=backend) == np.repeat(values, lengths)).all()
    told(
        "runs of 2^20 lengths",
        lambda: decoding.decode_runs(values, lengths, backend=backend),
        "numpy.repeat",
        lambda: np.repeat(values, lengths),
        rounds,
    )
    for nodes, degree in ((1 << 17, 16), (1 << 18, 3), (1 << 11, 1000)):
        offsets = np.concatenate([[0], np.cumsum(rng.poisson(degree, nodes))])
        graph = graphs.Graph(offsets, rng.integers(0, nodes, offsets[-1]))
        edges = rng.standard_normal(graph.edges).astype(np.float32)
        x = rng.standard_normal(nodes).astype(np.float32)
        whole = graph.targets.astype(np.int32), offsets.astype(np.int32)
        matrix: Any = scipy.sparse.csr_matrix((edges, *whole), shape=(nodes, nodes))
        assert np.allclose(graphs.spmv(graph, edges, x, backend=backend), matrix @ x, rtol=1e-3, atol=1e-3)
        told(
            f"sparse product, {nodes} rows of {degree}",
            lambda graph=graph, edges=edges, x=x: graphs.spmv(graph, edges, x, backend=backend),
            "SciPy",
            lambda matrix=matrix, x=x: matrix @ x,
            rounds,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    texts(given.backend, given.rounds)
    blocks(given.backend, given.rounds)
    numbers(given.backend, given.rounds)


if __name__ == "__main__":
    main()
