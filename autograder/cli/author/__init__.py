"""The authors' commands."""

__all__ = ["building", "making", "mutation", "try_file", "verification", "verifying"]
