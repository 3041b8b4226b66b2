"""A stranger's package: one backend and one op."""
