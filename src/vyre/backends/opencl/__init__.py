"""The backend `opencl`."""
