"""The version of the kit, in a module without imports."""

__version__ = "1.3.0"
