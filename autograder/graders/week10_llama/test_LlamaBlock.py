"""Hidden graders for `LlamaBlock`."""

import pytest

from autograder.authors import same


@pytest.fixture
def block(agree):
    """Create a pair of blocks of width 12."""
    return lambda: agree.LlamaBlock(12, 3, 1, 20)


@pytest.mark.weight(3)
def test_values(block, draw, frequencies):
    """Add attention of the normalised input, then the feed-forward layer of the normalised sum."""
    module = block()
    module(draw.normal(2, 5, 12), frequencies(4))
    module(3 * draw.normal(1, 4, 12) + 1, frequencies(4))


def test_sizes(agree, draw, frequencies):
    """Use the requested widths and numbers of heads."""
    for width, heads, kv_heads, hidden in ((8, 2, 2, 5), (16, 4, 2, 16), (6, 1, 1, 30)):
        module = agree.LlamaBlock(width, heads, kv_heads, d_ff=hidden)
        module(draw.normal(2, 4, width), frequencies(width // heads))


def test_parameters(block):
    """Store `norm1`, `attn`, `norm2` and `ff`."""
    block().state()


@pytest.mark.weight(2)
def test_cache(block, injected, draw, frequencies, fed):
    """Pass frequencies and cache to the attention."""
    module, cache, x = block(), injected.JoiningCache(), draw.normal(2, 7, 12)
    outputs = fed(module, x, (3, 1, 2, 1), frequencies(4), cache)
    whole = module(x, frequencies(4))
    same(outputs, whole, "With a cache the outputs differ from those without.")
    cache.attribute("appended")


@pytest.mark.weight(2)
def test_gradients(block, draw, frequencies):
    """Propagate gradients to the input and to all parameters."""
    block().within(1e-4).gradients(draw.normal(2, 5, 12), frequencies(4))


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(block, draw, frequencies, dtype):
    """Return the input's dtype."""
    block()(draw.normal(2, 5, 12), frequencies(4))


def test_input_is_unchanged(block, draw, frequencies):
    """Accept views, and leave the input unchanged."""
    module = block()
    module(draw.normal(5, 2, 12).transpose(0, 1), frequencies(4))
    module(draw.normal(1, 3, 12).expand(2, 3, 12), frequencies(4))


@pytest.mark.weight(1, elsewhere=2)
def test_device(block, draw, frequencies, device):
    """Compute on the device of the input."""
    block()(draw.normal(2, 5, 12), frequencies(4))


def test_two_objects(agree, draw, frequencies):
    """Keep two blocks independent, each with its own layers."""
    one, other = agree.LlamaBlock(12, 3, 1, 20), agree.LlamaBlock(8, 2, 2, 6)
    one(draw.normal(2, 5, 12), frequencies(4))
    other(draw.normal(2, 5, 8), frequencies(4))
