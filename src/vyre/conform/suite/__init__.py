"""The run: what is planned, the units of work, and the results they are folded into."""
