"""From a graph to a plan of programs: what is fused, where values lie, and how all of it is run."""

from vyre.planning.plan import GraphPlan, plan_graph
from vyre.planning.replay import replayed
from vyre.planning.run import run_graph

__all__ = ["GraphPlan", "plan_graph", "replayed", "run_graph"]
