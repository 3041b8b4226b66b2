"""Random graphs by the evaluator and by plans: equal bits, fused and unfused, two lengths of every dimension.

    python tools/try_graphs.py --seeds 0:1000 --backend cpu

The first difference is made small and printed with its graph; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

from vyre.planning import plan_graph, run_graph

from vyre.conform.diff.graphs import GraphCase, first_difference, smallest
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.graph.types import ELEMENTS
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from vyre.planning import GraphPlan

    from vyre.graph import Graph


Arrays = dict[str, "NDArray[Any]"]


def runner(
    plan: GraphPlan | None, *, fuse: bool, backend: str
) -> Callable[[Graph, Mapping[str, Any]], Arrays]:
    """Runs this plan, or plans each graph that it is given."""

    def run(graph: Graph, arrays: Mapping[str, Any]) -> Arrays:
        return run_graph(plan or plan_graph(graph, fuse=fuse), arrays, backend=backend)

    return run


def outcome(case: GraphCase, run: Callable[[Graph, Mapping[str, Any]], Arrays]) -> str:
    """How a plan differs, or how it breaks; nothing where it does neither."""
    try:
        found = first_difference(case, run)
    except Exception as error:  # whatever it is, it is a difference, and is made small like one
        return f"{type(error).__name__}: {error}"
    return "" if found is None else str(found)


def explain(case: GraphCase, *, fuse: bool, backend: str) -> None:
    """Prints the smallest case that differs, and how."""
    run = runner(None, fuse=fuse, backend=backend)
    small = smallest(case, lambda tried: outcome(tried, run) != "")
    print(small.graph.to_text())
    for name, given in small.inputs.items():
        print(f"{name} {list(given.shape)} = [{', '.join(f'{bits:#x}' for bits in given.bits[:64])}]")
    print(outcome(small, run))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0:100", help="first and one past the last, as 0:100")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--no-doubles", action="store_true", help="leave out F64")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split(":"))
    elements = [t for t in ELEMENTS if not (given.no_doubles and t is DataType.F64)]
    started, runs = time.perf_counter(), 0
    for seed in range(first, last):
        graph = random_graph(seed, elements=elements)
        for fuse in (True, False):
            run = runner(plan_graph(graph, fuse=fuse), fuse=fuse, backend=given.backend)
            for sizes in random_sizes(graph, seed):
                case = GraphCase(graph, random_inputs(graph, sizes, seed))
                runs += 1
                if found := outcome(case, run):
                    print(f"seed {seed}, {'fused' if fuse else 'unfused'}, {sizes}: {found}")
                    explain(case, fuse=fuse, backend=given.backend)
                    return 1
    seconds = time.perf_counter() - started
    print(f"{last - first} graphs, {runs} runs on {given.backend}: equal bits, {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
