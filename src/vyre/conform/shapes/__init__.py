"""The shapes of programs and dispatches: what is counted of them, which are tried, and how each is built."""
