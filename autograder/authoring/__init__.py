"""Making a new week: its folders from templates, and its entry in course.yaml."""
