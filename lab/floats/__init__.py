"""Proofs, witnesses and sweeps of the soft floats and functions."""
