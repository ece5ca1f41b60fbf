"""Test that pictures are compared as displayed, for both directions of the rows."""

import numpy as np
import pytest

from autograder.grading.assertions.properties import compare_drawing
from autograder.grading.outcomes import Wrong
from autograder.worker.protocol.values import Drawing, Image

WEIGHTS = np.array([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]])


def drawn(data: np.ndarray, top: bool, rows: tuple[str, ...]) -> Drawing:
    image = Image(data, top, 0.0, 1.0)
    return Drawing((image,), "Key", "Query", "", ("a", "b", "c"), rows, True)


RIGHT = drawn(WEIGHTS, True, ("x", "y"))


def test_rows_that_run_upwards_in_the_opposite_order() -> None:
    compare_drawing(drawn(WEIGHTS[::-1], False, ("y", "x")), RIGHT)


@pytest.mark.parametrize(
    "wrong",
    [
        drawn(WEIGHTS, False, ("x", "y")),  # the first query at the bottom
        drawn(WEIGHTS[::-1], True, ("y", "x")),
        drawn(WEIGHTS[::-1], False, ("x", "y")),  # rows do not match their tokens
    ],
)
def test_what_shows_something_else(wrong: Drawing) -> None:
    with pytest.raises(Wrong):
        compare_drawing(wrong, RIGHT)
