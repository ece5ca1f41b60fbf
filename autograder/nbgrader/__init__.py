"""nbgrader, used through its own doors: release, collect, autograde, gradebook, feedback."""
