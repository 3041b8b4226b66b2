"""What the compiler leaves unchecked in generated code, held against a second opinion.

An analysis that wants to remove a check hands over a witness; the checkers here verify it with integers of
their own. They share no code with the analyses and import nothing but the language. Where a witness is
refused, the check stays in the code.
"""
