"""What grading costs: against other graders, against the bare calls, and as classes grow."""
