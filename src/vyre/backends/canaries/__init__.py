"""Small programs that every backend must get right before it is handed out."""
