"""Feedback pages in nbgrader's exchange, once all answers are marked (`publish_feedback`)."""

__all__ = ["publish_feedback"]
