"""Other systems as a way out and in: autograders for them, templates, what they take by network."""
