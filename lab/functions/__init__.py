"""Coefficients of the correctly rounded functions, and the runs that try every input of them."""
