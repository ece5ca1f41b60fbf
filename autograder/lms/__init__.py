"""Canvas and Moodle: their rosters, their grade files, their bulk downloads."""
