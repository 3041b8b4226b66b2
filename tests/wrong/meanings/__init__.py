"""Plausible wrong meanings of what the golden rows promise."""
