"""Rewrite rules that are proved and not in the table of the optimiser."""
