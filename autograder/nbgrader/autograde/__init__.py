"""Record reports of the sandbox in nbgrader's gradebook.

`recorder` runs nbgrader's autograde step for each submission, within one connection and one
transaction per submission (`shared_gradebook`). The step's preprocessors write scores and feedback
into the notebook, and the scores into the gradebook (`preprocessor`). Student code never runs here.
Start with `recorder`.
"""

__all__ = ["preprocessor", "recorder"]
