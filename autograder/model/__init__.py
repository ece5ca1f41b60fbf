"""The registry and its values: what a course is, what a verdict, a report and a score are."""
