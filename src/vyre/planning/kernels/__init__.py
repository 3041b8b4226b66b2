"""The kernels of a plan, a file for each way to compute: every one is an ordinary program."""
