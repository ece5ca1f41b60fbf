"""Hidden graders for `plot_attention`.

Most tests compare one part of the picture, so that one mistake fails few tests. Only the last test
checks windows, settings and other figures; all other tests use `impurely`.
"""

import pytest
import torch
from msgspec.structs import replace

from autograder.authors import NEW_AXES, expect


def cells(drawing):
    """Return the drawing without colour ranges, axis labels and title."""
    images = tuple(replace(image, vmin=0.0, vmax=1.0) for image in drawing.images)
    return replace(drawing, images=images, xlabel="", ylabel="", title="")


def labels(drawing):
    """Return the drawing with only its axis labels."""
    return replace(drawing, images=(), xticks=(), yticks=(), title="")


def colours(drawing):
    """Return the drawing without axis labels and title."""
    return replace(drawing, xlabel="", ylabel="", title="")


def weights(draw, n=3, m=5):
    """Draw the attention weights (n, m) of n queries over m keys."""
    return torch.softmax(draw.normal(n, m, std=2.0), dim=-1)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Draw the weights unchanged, with a row per query from the top and a column per key."""
    agree.impurely.only(cells).plot_attention(weights(draw))
    agree.impurely.only(cells).plot_attention(weights(draw, n=6, m=2))


def test_causal_picture(agree, draw):
    """Show the zeros of a causal matrix in the upper right triangle."""
    scores = draw.normal(5, 5).masked_fill(
        torch.ones(5, 5, dtype=torch.bool).triu(1), float("-inf")
    )
    agree.impurely.only(cells).plot_attention(torch.softmax(scores, dim=-1))


@pytest.mark.weight(3)
def test_colours_span_zero_to_one(agree, draw):
    """Use the colour range 0 to 1, even if all weights are small or none is zero."""
    for matrix in (weights(draw) / 5.0, 0.4 + 0.2 * weights(draw), torch.full((3, 4), 0.25)):
        agree.impurely.only(colours).plot_attention(matrix)


@pytest.mark.weight(3)
def test_axis_labels(agree, draw):
    """Label the horizontal axis "Key" and the vertical axis "Query"."""
    agree.impurely.only(labels).plot_attention(weights(draw))


@pytest.mark.weight(2)
def test_tokens(agree, draw):
    """Label the rows with the query tokens and the columns with the key tokens."""
    plot = agree.impurely.only(cells).plot_attention
    plot(
        weights(draw),
        query_tokens=["le", "chat", "dort"],
        key_tokens=["the", "cat", "is", "a", "sleep"],
    )
    plot(weights(draw, n=3, m=3), ["x", "y", "z"], ["a", "b", "c"])


def test_tokens_of_one_axis(agree, draw):
    """Accept tokens for only one axis, and leave the labels of the other axis unchanged."""
    plot = agree.impurely.only(cells).plot_attention
    drawing = plot(weights(draw), key_tokens=["the", "cat", "is", "a", "sleep"])
    expect("cat" not in drawing.yticks, "The key tokens should not appear on the query axis.")
    drawing = plot(weights(draw, n=4, m=4), query_tokens=["red", "green", "blue", "grey"])
    expect("green" not in drawing.xticks, "The query tokens should not appear on the key axis.")


def test_draws_on_the_given_axes(agree, draw):
    """Draw on `ax` if it is given, and return it."""
    agree.impurely.only(cells).plot_attention(weights(draw), ax=NEW_AXES)
    agree.impurely.only(cells).plot_attention(
        weights(draw), ["u", "v", "w"], list("abcde"), NEW_AXES
    )


def test_weights_that_need_gradients(agree, draw):
    """Draw weights that require gradients, as a model returns them."""
    agree.impurely.gradients.only(cells).plot_attention(weights(draw))


def test_any_float_type(agree, draw, dtype):
    """Draw weights of any float dtype, including bfloat16, which NumPy lacks."""
    agree.impurely.only(cells).plot_attention(torch.softmax(draw.normal(3, 5), dim=-1))


def test_single_row_or_column(agree, draw):
    """Draw one query over many keys as one row, and many queries over one key as one column."""
    agree.impurely.only(cells).plot_attention(weights(draw, n=1, m=5))
    agree.impurely.only(cells).plot_attention(weights(draw, n=4, m=1))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, device):
    """Draw weights on any device, including a GPU."""
    agree.impurely.only(cells).plot_attention(weights(draw))


@pytest.mark.weight(3)
def test_leaves_matplotlib_as_it_was(agree, draw):
    """Leave windows, settings and other figures unchanged."""
    agree.plot_attention(weights(draw))
    agree.plot_attention(weights(draw))
    agree.plot_attention(weights(draw), ax=NEW_AXES)
