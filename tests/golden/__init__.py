"""Small programs and the source they become, side by side."""
