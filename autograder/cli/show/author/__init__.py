"""Author."""
