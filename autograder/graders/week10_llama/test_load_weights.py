"""Hidden graders for `load_weights`: drawn and trained weights, written in the sandbox."""

from pathlib import Path

import numpy as np
import pytest


def layer_shapes(width, heads, kv_heads, hidden):
    kv_width = kv_heads * width // heads
    return {
        "norm1.weight": (width,),
        "attn.W_q.weight": (width, width),
        "attn.W_k.weight": (kv_width, width),
        "attn.W_v.weight": (kv_width, width),
        "attn.W_o.weight": (width, width),
        "norm2.weight": (width,),
        "ff.gate.weight": (hidden, width),
        "ff.up.weight": (hidden, width),
        "ff.down.weight": (width, hidden),
    }


@pytest.fixture
def archive(draw):
    """Draw the arrays of a weight file."""

    def make(vocabulary=13, width=12, heads=3, kv_heads=1, hidden=20, layers=2):
        shapes = {"embed.weight": (vocabulary, width), "norm.weight": (width,)}
        for layer in range(layers):
            for name, shape in layer_shapes(width, heads, kv_heads, hidden).items():
                shapes[f"blocks.{layer}.{name}"] = shape
        arrays = {
            name: (0.3 * draw.array.normal(*s)).astype(np.float16) for name, s in shapes.items()
        }
        merges = np.arange(6, dtype=np.uint16).reshape(3, 2)
        return {"merges": merges, "n_heads": np.array(heads), **arrays}

    return make


@pytest.fixture
def trained():
    """Return the arrays of the course's language model."""
    with np.load(Path(__file__).parents[3] / "assets" / "model" / "austen.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.mark.weight(3)
def test_logits(agree, draw, injected, archive, weight_file):
    """Return a model that computes the logits of the described model."""
    model = agree.impurely.load_weights(weight_file(13, 12, 3, 1, 20, 2))
    model(draw.integers(0, 13, 2, 7))
    injected.impurely.loaded(archive())(draw.integers(0, 13, 2, 7))


def test_trained_model(draw, injected, trained):
    """Compute the logits of the course's trained language model."""
    injected.impurely.loaded(trained)(draw.integers(0, 2048, 1, 24))


@pytest.mark.weight(2)
def test_weights(injected, archive):
    """Load every weight as a trainable float32 parameter."""
    injected.impurely.loaded_state(archive())


@pytest.mark.weight(3)
def test_sizes(draw, injected, archive):
    """Find all sizes in the arrays."""
    for sizes in (
        {"vocabulary": 7, "width": 8, "heads": 2, "kv_heads": 2, "hidden": 5, "layers": 1},
        {"vocabulary": 31, "width": 24, "heads": 6, "kv_heads": 3, "hidden": 9, "layers": 3},
        {"vocabulary": 5, "width": 16, "heads": 2, "kv_heads": 1, "hidden": 64, "layers": 4},
    ):
        model = injected.impurely.loaded(archive(**sizes))
        model(draw.integers(0, sizes["vocabulary"], 2, 6))


@pytest.mark.weight(2)
def test_many_layers(agree, draw, injected, archive, weight_file):
    """Load models of more than ten layers."""
    model = agree.impurely.load_weights(weight_file(13, 4, 2, 1, 3, 12))
    model(draw.integers(0, 13, 1, 4))
    model = injected.impurely.loaded(archive(width=4, heads=2, hidden=3, layers=12))
    model(draw.integers(0, 13, 1, 4))


@pytest.mark.weight(2)
def test_number_of_heads(agree, draw, injected, archive, weight_file):
    """Read the number of query heads from the file: the same shapes allow several."""
    for heads, kv_heads in ((2, 1), (4, 2), (8, 4)):
        model = agree.impurely.load_weights(weight_file(13, 16, heads, kv_heads, 20, 1))
        model(draw.integers(0, 13, 2, 6))
        model = injected.impurely.loaded(archive(width=16, heads=heads, kv_heads=kv_heads))
        model(draw.integers(0, 13, 2, 6))


def test_caches(draw, injected, archive):
    """Return a model whose caches work."""
    model = injected.impurely.loaded(archive())
    injected.cached_logits(model, draw.integers(0, 13, 2, 6), (4, 1, 1))


def test_other_arrays(draw, injected, archive):
    """Ignore arrays that are not weights, and accept any order of the arrays."""
    arrays = archive()
    arrays = {name: arrays[name] for name in sorted(arrays, reverse=True)}
    arrays.pop("merges")
    injected.impurely.loaded(arrays)(draw.integers(0, 13, 2, 5))
    arrays["vocabulary"] = np.arange(4)
    injected.impurely.loaded(arrays)(draw.integers(0, 13, 2, 5))


def test_path_as_text(draw, injected, archive):
    """Accept the path as a str."""
    injected.impurely.loaded(archive(), as_text=True)(draw.integers(0, 13, 2, 5))


def test_two_files(agree, draw, injected, archive, weight_file):
    """Keep two loaded models independent."""
    for layers in (2, 1):
        model = agree.impurely.load_weights(weight_file(13, 12, 3, 1, 20, layers))
        model(draw.integers(0, 13, 2, 5))
    one, other = injected.impurely.loaded(archive()), injected.impurely.loaded(archive(layers=1))
    one(draw.integers(0, 13, 2, 5))
    other(draw.integers(0, 13, 2, 5))
