"""What the truth is taken from: golden rows, digests of every input, and float oracles outside of vyre."""
