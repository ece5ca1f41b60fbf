"""Making and proving a course: stubs, figures, lessons, new weeks, verify, mutants, leaks."""
