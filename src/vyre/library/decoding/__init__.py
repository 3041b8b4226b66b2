"""Bytes to values and back; what cannot be decoded has a place."""
