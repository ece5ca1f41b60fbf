"""Hidden graders for `ascii_heatmap`."""

import numpy as np
import pytest

from autograder.authors import expect

pytestmark = pytest.mark.dtypes("float64")
SENTENCE = ["The", "cat", "sat", "on", "the", "mat"]


def shown(drawing):
    """Compare what is visible: trailing spaces do not count, a trailing newline does."""
    return "\n".join(line.rstrip(" ") for line in drawing.split("\n"))


def attention(draw, size, spread=1.5):
    """Weights whose largest is exactly 1/2: every right formula puts that on the last level."""
    grown = np.exp(draw.array.normal(size, size, std=spread))
    return grown / grown.max() / 2


@pytest.mark.weight(3)
def test_drawing(agree, draw):
    """Print a line of tokens, then for each query a line with its token and a cell per key."""
    agree.only(shown).ascii_heatmap(attention(draw, 6, spread=0.3), SENTENCE)
    drawing = agree.only(shown).ascii_heatmap(attention(draw, 6), SENTENCE)
    expect(
        len(drawing.split("\n")) == 7,
        "Six tokens should give seven lines, and the last should end the text.",
    )


@pytest.mark.weight(2)
def test_largest_weight(agree, draw):
    """Print only the largest weight of the whole matrix with the darkest character."""
    weights = attention(draw, 5)
    weights[:, 2] /= 3
    weights[3] = [0.06, 0.05, 0.04, 0.5, 0.02]
    agree.only(shown).ascii_heatmap(weights, ["a", "bc", "def", "ghij", "klmno"])
    agree.only(shown).ascii_heatmap(0.25 * weights, ["a", "bc", "def", "ghij", "klmno"])


@pytest.mark.weight(2)
def test_characters(agree, draw):
    """Use as many levels as there are characters (two or more)."""
    weights = attention(draw, 4)
    for chars in (" .:#", "01", " .,:;+*#", "abcdefghijk"):
        agree.only(shown).ascii_heatmap(weights, ["we", "all", "look", "up"], chars=chars)
    agree.only(shown).ascii_heatmap(weights, ["we", "all", "look", "up"], "-+")


@pytest.mark.weight(2)
def test_width(agree, draw):
    """Print tokens and cells `width` characters wide."""
    for width in (3, 4, 9):
        agree.only(shown).ascii_heatmap(attention(draw, 3), ["I", "am", "you"], width=width)
    agree.only(shown).ascii_heatmap(attention(draw, 3), ["I", "am", "you"], " xX", 8)


def test_all_zero(agree):
    """Draw a matrix of zeros with the lightest character everywhere."""
    agree.only(shown).ascii_heatmap(np.zeros((3, 3)), ["I", "am", "you"])
    agree.only(shown).ascii_heatmap(np.zeros((2, 2)), ["no", "one"], chars="oO")


def test_one_token(agree):
    """Draw a single token, which attends only to itself, with the darkest character."""
    agree.only(shown).ascii_heatmap(np.ones((1, 1)), ["alone"])


def test_views(agree, draw):
    """Draw a transposed view as it is indexed, and leave the weights unchanged."""
    agree.only(shown).ascii_heatmap(attention(draw, 6, spread=0.5).T, tuple(SENTENCE))
