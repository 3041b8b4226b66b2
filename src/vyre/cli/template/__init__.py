"""A backend that runs programs as NumPy code, one element of every array for each invocation."""
