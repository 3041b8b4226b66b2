"""The front end: plain Python functions become programs and ops."""
