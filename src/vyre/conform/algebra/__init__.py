"""The proof engine: laws checked by exhaustion, by witnesses, and for all inputs by solvers."""
