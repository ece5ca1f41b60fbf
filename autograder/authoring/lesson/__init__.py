"""Build the files of a week that students get, and check that they contain no secret.

`handout` collects the files, including the notebook that nbgrader releases, and `figures` draws the
lesson's figures. `leak_check` is the trust boundary: before a release, it compares every file with
the solution, the hidden graders and the bank. `marking_guide` and `syllabus` read the author's
answers.md and syllabus.yaml.
"""
