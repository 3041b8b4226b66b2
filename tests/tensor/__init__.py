"""The face of tensors: what NumPy and torch users write, and the errors that they meet."""
