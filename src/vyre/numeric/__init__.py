"""Strict floats on integers: soft-float ops, their fast evaluators, and their proofs."""
