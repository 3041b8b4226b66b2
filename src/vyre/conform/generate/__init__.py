"""Generators of conformance material, deterministic by seed."""
