"""Commands for course authors."""

__all__ = ["try_file", "verification", "weeks"]
