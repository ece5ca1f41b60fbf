"""Hidden graders for `plot_heads`."""

import pytest
import torch
from msgspec.structs import replace

from autograder.authors import expect


def heads(draw, number=2, n=4, m=6):
    """Draw attention weights (H, n, m)."""
    return torch.softmax(draw.normal(number, n, m, std=1.5), dim=-1)


def by_title(figure):
    """Return the figure with its panels sorted by title, because any arrangement is correct."""
    return replace(figure, axes=tuple(sorted(figure.axes, key=lambda panel: panel.title)))


def drawn(figure):
    """Return the figure sorted by title, without the panels that show no image."""
    return by_title(replace(figure, axes=tuple(panel for panel in figure.axes if panel.images)))


@pytest.fixture
def panels(agree):
    """Return an `agree` that compares panels by title and ignores windows and settings."""
    return agree.impurely.only(drawn)


@pytest.mark.weight(2)
def test_every_head(panels, draw):
    """Draw a titled panel per head, with a row per query from the top and a column per key."""
    panels.plot_heads(heads(draw, 3))


@pytest.mark.weight(2)
def test_one_range_of_colours(panels, draw):
    """Use the colour range 0 to 1 in every panel, for any weights."""
    panels.plot_heads(heads(draw, m=5) / 2)
    flat, sharp = torch.full((4, 6), 1 / 6), torch.eye(6)[:4]
    figure = panels.plot_heads(torch.stack([flat, sharp]))
    limits = {(image.vmin, image.vmax) for panel in figure.axes for image in panel.images}
    expect(limits == {(0.0, 1.0)}, "All panels should share the range of colours from 0 to 1.")


@pytest.mark.weight(3)
def test_tokens_on_both_axes(panels, draw):
    """Label queries and keys of every panel with the tokens."""
    panels.plot_heads(heads(draw, 2, 5, 5), ["a", "soft", "look", "up", "table"])
    panels.plot_heads(heads(draw, 3, 3, 3), tokens=["the", "cat", "the"])


@pytest.mark.weight(4)
def test_any_number_of_heads(agree, draw):
    """Draw exactly one panel per head, for one, five and eight heads."""
    for number in (1, 5, 8):
        agree.impurely.only(by_title).plot_heads(heads(draw, number, 3, 4))


def test_weights_straight_from_a_model(panels, draw):
    """Draw weights that require gradients."""
    panels.plot_heads(heads(draw).requires_grad_())


@pytest.mark.dtypes("float16", "bfloat16", "float64")
def test_every_dtype(panels, draw, dtype):
    """Draw weights of any float dtype, including bfloat16, which NumPy lacks."""
    panels.plot_heads(heads(draw))


def test_single_query_or_key(panels, draw):
    """Draw a panel with a single row or column."""
    panels.plot_heads(heads(draw, 2, 1, 5))
    panels.plot_heads(heads(draw, 2, 5, 1))


def test_each_call_draws_a_new_figure(panels, draw):
    """Create a new figure in every call."""
    panels.plot_heads(heads(draw))
    panels.plot_heads(heads(draw, 3))


@pytest.mark.weight(1, elsewhere=4)
def test_device(panels, draw, device):
    """Draw weights on any device, including a GPU."""
    panels.plot_heads(heads(draw))


@pytest.mark.weight(3)
def test_leaves_matplotlib_as_it_was(agree, draw):
    """Leave windows, settings and other figures unchanged."""
    agree.only(drawn).plot_heads(heads(draw))
    agree.only(drawn).plot_heads(heads(draw))


def test_views(panels, draw):
    """Read transposed and strided weights by index, not by memory order."""
    panels.plot_heads(heads(draw, 2, 5, 4).mT)
    panels.plot_heads(heads(draw, 4, 3, 5)[::2])
