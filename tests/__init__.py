"""Tests of the kit. Import helpers by their full name, as in `tests.imports`."""
