"""vyre: a GPU program, written once in Python, gives the same bytes on every backend."""
