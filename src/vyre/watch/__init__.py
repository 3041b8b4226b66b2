"""What a call does, seen from inside: races and other findings with their source lines, and traces."""
