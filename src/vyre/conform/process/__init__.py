"""Where a backend runs while it is judged: in a process of its own, behind a lock, at a known place."""
