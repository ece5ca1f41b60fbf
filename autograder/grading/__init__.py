"""Grading: hidden pytest graders on the trusted side, verdicts, comparison and diagnosis."""
