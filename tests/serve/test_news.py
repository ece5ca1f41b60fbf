"""What is reported of a submission while it is graded."""

from __future__ import annotations

from autograder.serve.views.live_updates import LiveUpdates


def test_an_exercise_is_reported_when_the_next_one_begins() -> None:
    news = LiveUpdates()
    for _ in range(3):
        news.check_ran("7KQ2", "softmax")
    assert news.progress == {}
    news.check_ran("7KQ2", "logsumexp")
    assert news.progress == {"7KQ2": {"softmax": 3}}
