"""The integer primitives, one file each: 18 binary, `MulHi`, 7 unary."""
