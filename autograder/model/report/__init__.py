"""The results of grading: verdicts, points and the JSON report that other tools read.

`schema` defines the report, `verdicts` how tests and submissions end, and `scoring` computes points
from the evidence that grading collects. `findings` contains the wording of mistakes, `differences`
explains why a score changed. Start with `schema.Report`.
"""

__all__ = ["differences", "failure_groups", "findings", "schema", "scoring", "verdicts"]
