"""Oracles of the strict float operations, written apart from every implementation, and their laws."""
