"""The version of the kit, in a module without imports."""

__version__ = "0.15.0"
