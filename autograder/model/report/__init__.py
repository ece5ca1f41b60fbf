"""The results of grading: verdicts, points and the JSON report that other tools read.

Start with `schema.Report`. `schema` defines the report and its verdicts, and `scoring` computes
points from the evidence that grading collects. `findings` describes mistakes that are not in the
bank, and `comparison` explains why a score changed.
"""
