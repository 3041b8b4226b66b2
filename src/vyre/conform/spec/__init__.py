"""What an operation and an engine promise: pure definitions over `vyre.ir`, nothing is run here."""
