"""Random graphs by the evaluator and by plans: equal bits, fused and unfused, two lengths of every dimension.

    python tools/try_graphs.py --seeds 0:1000 --backend cpu

The first graph that differs is made small and printed; with `--keep-going` all of them are listed. The exit
status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vyre.conform.diff.graphs import GraphCase, first_difference, smallest
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.graph.types import ELEMENTS
from vyre.ir.types import DataType
from vyre.planning import plan_graph, run_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vyre.graph import Graph

    Run = Callable[[Graph, Mapping[str, Any]], Mapping[str, Any]]


def runner(*, fuse: bool, backend: str) -> Run:
    """Runs graphs by their plans; the plan of the last graph is kept, for its second length."""
    planned = lru_cache(maxsize=1)(plan_graph)

    def run(graph: Graph, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
        return run_graph(planned(graph, fuse=fuse), arrays, backend=backend)

    return run


def outcome(case: GraphCase, run: Run) -> tuple[str, str]:
    """How a plan differs, or how it breaks: the kind, and the whole; two empty strings where all is well."""
    try:
        found = first_difference(case, run)
    except Exception as error:  # whatever it is, it is made small like a difference
        return type(error).__name__, f"{type(error).__name__}: {error}"
    return ("", "") if found is None else ("difference", str(found))


def failures(
    seed: int, elements: Sequence[DataType], backend: str
) -> Iterator[tuple[str, GraphCase, Run, tuple[str, str]]]:
    """The cases of a seed that fail, each with a line about it."""
    graph = random_graph(seed, elements=elements)
    for fuse in (True, False):
        run = runner(fuse=fuse, backend=backend)
        for sizes in random_sizes(graph, seed):
            case = GraphCase(graph, random_inputs(graph, sizes, seed))
            found = outcome(case, run)
            if found[0]:
                given = ", ".join(f"{dim} = {length}" for dim, length in sizes.items()) or "no dynamic size"
                yield f"seed {seed}, {'fused' if fuse else 'unfused'}, {given}: {found[1]}", case, run, found


def explain(case: GraphCase, run: Run, kind: str) -> None:
    """Prints the smallest case that fails in the same way."""
    small = smallest(case, lambda tried: outcome(tried, run)[0] == kind)
    print(small.graph.to_text())
    for name, given in small.inputs.items():
        print(f"{name} {list(given.shape)} = [{', '.join(f'{bits:#x}' for bits in given.bits[:64])}]")
    print(outcome(small, run)[1])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0:100", help="first and one past the last, as 0:100")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--no-doubles", action="store_true", help="leave out F64")
    parser.add_argument("--keep-going", action="store_true", help="list every graph that fails")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split(":"))
    elements = [t for t in ELEMENTS if not (given.no_doubles and t is DataType.F64)]
    started, failed = time.perf_counter(), 0
    for seed in range(first, last):
        for line, case, run, (kind, _) in failures(seed, elements, given.backend):
            print(line, flush=True)
            failed += 1
            if not given.keep_going:
                explain(case, run, kind)
                return 1
            break
    seconds = time.perf_counter() - started
    verdict = f"{failed} fail" if failed else "equal bits, fused and unfused, for two lengths each"
    print(f"{last - first} graphs on {given.backend}: {verdict}; {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
