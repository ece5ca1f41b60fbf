"""Record the sandbox's grading reports in nbgrader's gradebook.

`recorder` runs nbgrader's autograde step for each submission, on one database connection and with
one transaction per submission (`shared_gradebook`). The preprocessors that the step runs
(`preprocessor`) write scores and feedback into the notebook, and scores into the gradebook. No
student code runs here. Start reading at `recorder`.
"""
