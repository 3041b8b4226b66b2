"""The tests. They mirror `src/vyre`; what several of them need is imported from here as `tests.…`."""
