"""What a class did in a week and over the course, as one page for the instructor."""
