"""Networks: formulas against others' in doubles, and the promises that hold to the last bit."""
