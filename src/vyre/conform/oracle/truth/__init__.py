"""The truth of unary F32 operations on all 2^32 inputs, as digests, and the check of backends against it."""
