"""Hidden graders for `SelfAttention` (NumPy)."""

import numpy as np
import pytest

from autograder.authors import rows_sum_to_one, same

# A correct program may round the float64 matrices to float32, or only the products with them.
# Correct queries and keys then differ by a few rounding errors of 6e-8, which affect the weights.
FLOAT32 = 1e-5


@pytest.mark.weight(3)
def test_matrices(agree):
    """Draw Wq, Wk and Wv in this order from one generator, each scaled for its own shape."""
    pair = agree.SelfAttention(8, 3, 5)
    for name in ("Wq", "Wk", "Wv"):
        pair.attribute(name)


def test_larger_values(agree):
    """Scale the entries of Wv for its own shape, (d_model, dv), even if dv is large."""
    pair = agree.SelfAttention(5, 2, 40, 7)
    pair.attribute("Wv")


@pytest.mark.weight(2)
def test_seeds(agree, draw):
    """Draw the matrices with the given seed, passed by position or by name."""
    agree.SelfAttention(6, 4, 3, draw.seed()).attribute("Wk")
    agree.SelfAttention(6, 4, 3, seed=draw.seed()).attribute("Wv")


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_forward(agree, draw):
    """Let every token attend to every token; return the output first, then the weights."""
    _, weights = agree.SelfAttention(8, 3, 5).forward(draw.array.normal(6, 8))
    rows_sum_to_one(weights)


@pytest.mark.dtypes("float64")
def test_batches(agree, draw):
    """Support one or more batch axes, and process each sentence independently."""
    pair = agree.SelfAttention(7, 2, 4, draw.seed())
    pair.forward(draw.array.normal(3, 5, 7))
    pair.forward(draw.array.normal(2, 3, 5, 7))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16", "float32", "float64")
def test_float_types(agree, draw, dtype):
    """Return output and weights in the floating-point type of the sentence, not of the matrices."""
    # float16 rounds queries and keys near 3 to steps of 2e-3 before they are multiplied.
    tolerance = {"float16": 0.05, "float32": FLOAT32, "float64": 1e-13}[
        draw.array.normal(1).dtype.name
    ]
    agree.within(atol=tolerance).SelfAttention(8, 3, 5).forward(draw.array.normal(6, 8))


@pytest.mark.weight(2)
def test_second_call(agree, draw):
    """Leave the object unchanged: a sentence gives the same result after a call in float16."""
    pair = agree.SelfAttention(8, 3, 5)
    sentence = draw.array.normal(6, 8).astype(np.float64)
    first, _ = pair.forward(sentence)
    pair.student.forward(sentence.astype(np.float16))
    second, _ = pair.forward(sentence)
    same(first, second, "The same sentence should get the same answer in a second call.")


def test_one_token(agree, draw):
    """Let a single token attend to itself, and keep the batch axis of a batch of one."""
    pair = agree.within(atol=FLOAT32).SelfAttention(8, 3, 5)
    pair.forward(draw.array.normal(1, 8))
    pair.forward(draw.array.normal(1, 4, 8))


@pytest.mark.dtypes("float64")
def test_views(agree, draw):
    """Accept transposed or broadcast views as embeddings, and leave them unchanged."""
    pair = agree.SelfAttention(8, 3, 5, 1)
    pair.forward(draw.array.normal(8, 6).T)
    pair.forward(np.broadcast_to(draw.array.normal(1, 8), (4, 8)))


@pytest.mark.dtypes("float64")
def test_two_objects(agree, draw):
    """Keep two objects independent: each has its own matrices."""
    first, second = agree.SelfAttention(6, 2, 3, 1), agree.SelfAttention(6, 2, 3, 2)
    sentence = draw.array.normal(4, 6)
    second.forward(sentence)
    first.forward(sentence)
