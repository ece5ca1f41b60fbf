"""Feedback that a student reads: from the typed report to a page or a notebook fragment."""
