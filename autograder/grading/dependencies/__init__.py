"""Dependencies."""
