"""The backend `reference`: the interpreter behind the protocol."""
