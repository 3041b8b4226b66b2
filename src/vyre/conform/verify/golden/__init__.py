"""Golden rows replayed on a backend."""
