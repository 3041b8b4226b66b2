"""Programs on two backends: compared, traced to the first difference, made small."""
