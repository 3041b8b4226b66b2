"""The specs of the ops of the standard library that compose others, a table for each family.

What an op means is written here once more, in other steps than its body takes: bodies are written to be fast,
definitions to be plain. That a body is what it means for all inputs is proved apart (`verify/composition`).
"""
