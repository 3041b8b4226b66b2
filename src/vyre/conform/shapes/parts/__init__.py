"""The parts of a case, each of which adds statements and says what they do to every invocation."""
