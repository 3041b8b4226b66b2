"""Compositional proofs: inlined bodies against what each op means, and how laws carry over."""
