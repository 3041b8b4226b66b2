"""The exam and the proofs that are made once: nothing that a user's run imports."""
