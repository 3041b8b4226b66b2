"""Runs in bulk: generated programs, hostile bytes, removed checks, memory."""
