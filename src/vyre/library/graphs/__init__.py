"""Graphs in compressed rows: `Graph(offsets, targets)`, and what is asked of them.

transpose, bfs, components, levels, shortest_paths, spmv, pagerank
"""

from vyre.library.graphs.ranking import pagerank
from vyre.library.graphs.rows import Graph, spmv, transpose
from vyre.library.graphs.spreading import ABSENT, bfs, components, levels, shortest_paths

__all__ = [
    "ABSENT", "Graph", "bfs", "components", "levels", "pagerank", "shortest_paths", "spmv", "transpose",
]  # fmt: skip
