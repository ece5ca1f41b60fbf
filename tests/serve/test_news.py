"""What is reported of a submission while it is graded."""

from __future__ import annotations

from autograder.serve.views.notifications import News


def test_an_exercise_is_reported_when_the_next_one_begins() -> None:
    news = News()
    for _ in range(3):
        news.heard("7KQ2", "softmax")
    assert news.grown == {}
    news.heard("7KQ2", "logsumexp")
    assert news.grown == {"7KQ2": {"softmax": 3}}
