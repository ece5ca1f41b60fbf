"""Commands of a student."""
