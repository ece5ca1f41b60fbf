"""The kit's version, alone, so that anything may read it."""

__version__ = "0.15.0"
