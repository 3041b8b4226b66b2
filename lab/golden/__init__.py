"""The makers of the golden rows, and what holds the rows against the documents."""
