"""What a run leaves behind: typed records, how they are encoded, and the journal they are kept in."""
