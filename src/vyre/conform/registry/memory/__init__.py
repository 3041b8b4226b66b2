"""Loads and stores as functions of one element: where an index is in bounds, and where it is not."""
