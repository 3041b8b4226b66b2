"""PageRank of the packages that are installed on a Debian system, along what they depend on.

python examples/package_ranks.py
python examples/package_ranks.py --status /var/lib/dpkg/status --backend cuda
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np

from vyre.library import graphs

STATUS = Path("/var/lib/dpkg/status")


def packages_of(text: str) -> dict[str, list[str]]:
    """For each package the names that it depends on, all alternatives included."""
    found: dict[str, list[str]] = {}
    for part in text.split("\n\n"):
        name = re.search(r"^Package: (\S+)", part, re.MULTILINE)
        if name is not None:
            needs = ",".join(re.findall(r"^(?:Pre-)?Depends: (.*)", part, re.MULTILINE))
            names = (re.match(r"\s*([^\s:(]+)", one) for one in re.split(r"[,|]", needs))
            found[name[1]] = sorted({one[1] for one in names if one is not None})
    return found


def graph_of(packages: dict[str, list[str]]) -> tuple[list[str], graphs.Graph]:
    """The packages by number, and an edge from each to those it depends on that are there."""
    names = sorted(packages)
    number = {name: k for k, name in enumerate(names)}
    rows = [[number[other] for other in packages[name] if other in number] for name in names]
    offsets = np.cumsum([0, *map(len, rows)])
    return names, graphs.Graph(offsets, np.array([k for row in rows for k in row], np.uint32))


def by_hand(graph: graphs.Graph, turns: int) -> np.ndarray:
    """The same in floats of NumPy."""
    degrees = np.diff(graph.offsets.astype(np.int64))
    sources = np.repeat(np.arange(graph.nodes), degrees)
    ranks = np.full(graph.nodes, 1 / graph.nodes)
    for _ in range(turns):
        flow = np.bincount(graph.targets, (ranks / np.maximum(degrees, 1))[sources], graph.nodes)
        ranks = 0.15 / graph.nodes + 0.85 * (flow + ranks[degrees == 0].sum() / graph.nodes)
    return ranks


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--status", type=Path, default=STATUS, help=f"dpkg's list of packages [{STATUS}]")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--backend", help="where to run [the default]")
    options = parser.parse_args(arguments)
    if not options.status.is_file():
        print(f"{options.status} is not there: this example is for Debian and its relatives")
        return
    names, graph = graph_of(packages_of(options.status.read_text(encoding="utf-8", errors="replace")))
    graphs.pagerank(graph, turns=1, backend=options.backend)  # compiles
    began = time.perf_counter()
    ranks = graphs.pagerank(graph, turns=options.turns, backend=options.backend)
    taken = time.perf_counter() - began
    if np.abs(ranks - by_hand(graph, options.turns)).max() > 1e-9 or abs(ranks.sum() - 1) > 1e-9:
        raise SystemExit("NumPy says otherwise")
    print(f"{graph.nodes} packages and {graph.edges} dependencies: ranks within 1e-9 of NumPy's")
    for k in np.argsort(-ranks, kind="stable")[:5]:
        print(f"  {ranks[k]:.4f} {names[k]}")
    print(f"{graph.edges * options.turns / taken / 1e6:.2f} million edges a second")


if __name__ == "__main__":
    main()
