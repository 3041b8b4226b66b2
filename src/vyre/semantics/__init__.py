"""What each operation means, written once over any kind of word: integers, arrays, IR, solver terms.

    domain       the steps that definitions are made of, and Python integers
    operators    the definition of every integer operator; casts: of every cast that moves bits
    arrays, emitted, terms     the other kinds of words: NumPy, expressions, SMT-LIB
    evaluate     expressions and ops over any of them; spellings are other ways to write a definition
    vector       ops on arrays; translate: expressions and ops as text for solvers
    solvers      the one way to ask a solver; proof_cache: answers kept on disk

`vyre.conform.spec.independence` says who must not read it, and why.
"""
