"""Which modules of a class share what few others have."""
