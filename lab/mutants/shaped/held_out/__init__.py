"""Shaped mutants by somebody who has not seen which shapes a run tries; each module has its `MUTANTS`."""
