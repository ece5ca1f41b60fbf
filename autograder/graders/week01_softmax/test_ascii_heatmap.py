"""Hidden graders for `ascii_heatmap`."""

import numpy as np
import pytest

from autograder.authors import expect

pytestmark = pytest.mark.dtypes("float64")
SENTENCE = ["The", "cat", "sat", "on", "the", "mat"]


def shown(drawing):
    """Remove trailing spaces from each line, but keep a trailing newline."""
    return "\n".join(line.rstrip(" ") for line in drawing.split("\n"))


def attention(draw, size, spread=1.5):
    """Draw weights with maximum 1/2, which every correct formula maps to the darkest character."""
    grown = np.exp(draw.array.normal(size, size, std=spread))
    return grown / grown.max() / 2


@pytest.mark.weight(3)
def test_drawing(agree, draw):
    """Return a line of tokens, then for each query a line with its token and a cell per key."""
    agree.only(shown).ascii_heatmap(attention(draw, 6, spread=0.3), SENTENCE)
    drawing = agree.only(shown).ascii_heatmap(attention(draw, 6), SENTENCE)
    expect(
        len(drawing.split("\n")) == 7,
        "Six tokens should give seven lines, and the last should end the text.",
    )


@pytest.mark.weight(2)
def test_largest_weight(agree, draw):
    """Use the darkest character only for weights equal to the maximum of the whole matrix."""
    weights = attention(draw, 5)
    weights[:, 2] /= 3
    weights[3] = [0.06, 0.05, 0.04, 0.5, 0.02]
    agree.only(shown).ascii_heatmap(weights, ["a", "bc", "def", "ghij", "klmno"])
    agree.only(shown).ascii_heatmap(0.25 * weights, ["a", "bc", "def", "ghij", "klmno"])


@pytest.mark.weight(2)
def test_characters(agree, draw):
    """Use as many levels as `chars` has characters (two or more)."""
    weights = attention(draw, 4)
    for chars in (" .:#", "01", " .,:;+*#", "abcdefghijk"):
        agree.only(shown).ascii_heatmap(weights, ["we", "all", "look", "up"], chars=chars)
    agree.only(shown).ascii_heatmap(weights, ["we", "all", "look", "up"], "-+")


@pytest.mark.weight(2)
def test_width(agree, draw):
    """Make tokens and cells `width` characters wide."""
    for width in (3, 4, 9):
        agree.only(shown).ascii_heatmap(attention(draw, 3), ["I", "am", "you"], width=width)
    agree.only(shown).ascii_heatmap(attention(draw, 3), ["I", "am", "you"], " xX", 8)


def test_all_zero(agree):
    """Draw a matrix of zeros with the lightest character everywhere."""
    agree.only(shown).ascii_heatmap(np.zeros((3, 3)), ["I", "am", "you"])
    agree.only(shown).ascii_heatmap(np.zeros((2, 2)), ["no", "one"], chars="oO")


def test_one_token(agree):
    """Use the darkest character for the only cell of a single token."""
    agree.only(shown).ascii_heatmap(np.ones((1, 1)), ["alone"])


def test_views(agree, draw):
    """Accept a transposed view as weights and a tuple of tokens; leave the weights unchanged."""
    agree.only(shown).ascii_heatmap(attention(draw, 6, spread=0.5).T, tuple(SENTENCE))
