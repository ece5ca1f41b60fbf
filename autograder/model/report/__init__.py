"""The results of grading: verdicts, points and the JSON report that other tools read.

`schema` defines the report and its verdicts, `scoring` computes points from the evidence that
grading collects. `findings` contains the wording of mistakes, `comparison` explains why a score
changed. Start with `schema.Report`.
"""

__all__ = ["comparison", "findings", "schema", "scoring"]
