"""Release feedback pages to nbgrader's exchange once all answers are marked."""

__all__ = ["publish_feedback"]
