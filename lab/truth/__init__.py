"""The truth of the functions, decided by MPFR and Arb, and the search for their hardest inputs."""
