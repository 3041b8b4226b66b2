"""`Select`, `Lane` and `MakeVec`: what moves values without changing them."""
