"""Commands for course authors."""
