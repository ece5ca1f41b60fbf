"""A course of another kind: two weeks of NumPy and plain Python."""
