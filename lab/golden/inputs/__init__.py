"""The inputs of the float golden rows, as bits. Append only: the rows' numbers follow this order."""
