"""Feedback pages in nbgrader's exchange (`publish_feedback`), once all answers are marked
(`provisional`)."""

__all__ = ["provisional", "publish_feedback"]
