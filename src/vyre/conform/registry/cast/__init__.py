"""The casts: one spec per row of the cast table, one definition per rule."""
