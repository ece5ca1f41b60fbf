"""Exchange with other systems."""
