"""Tests of the kit. A helper is imported by its full name, as in `tests.imports`."""
