"""A stranger's package: one backend, one op and its spec."""
