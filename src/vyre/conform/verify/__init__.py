"""Strategies that verify a backend, each on its own; `vyre.conform.suite.run` runs them all."""
