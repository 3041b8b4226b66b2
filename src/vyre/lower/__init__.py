"""From a valid program to source code: normalise, then emit one language."""
