"""Specs of the strict float operations: `float.*`, their oracles, laws and famous non-laws."""
