"""What must not change while the code is moved: digests and names, kept in `data/`.

`pytest tests/pins --update-golden` writes them anew, for a change that is meant.
"""
