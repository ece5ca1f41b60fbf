"""Record the reports of the sandbox in nbgrader's gradebook.

`recorder` runs nbgrader's autograde step for each submission, on one database connection and with
one transaction per submission (`shared_gradebook`). The preprocessors of this step write scores and
feedback into the notebook, and the scores into the gradebook (`preprocessor`). Student code does
not run here. Start reading at `recorder`.
"""

__all__ = ["preprocessor", "recorder"]
