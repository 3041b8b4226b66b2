"""Kernels as practitioners write them, on every backend at hand, against oracles from outside."""
