"""The conformance system: golden rows, the permanence lock, program generation, certification."""
