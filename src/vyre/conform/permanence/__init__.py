"""What was published and may only grow: the lock, and the check against it."""
