"""Hidden graders for `gated_linear_attention`. Decays are drawn between exp(-1) and 1."""

import pytest
import torch

from autograder.authors import all_finite, same


@pytest.mark.weight(3)
def test_values(agree, gated):
    """Multiply each score by the decays of the tokens after its key, up to the query."""
    agree.gated_linear_attention(*gated(2, 3, 6))
    agree.gated_linear_attention(*gated(1, 2, 9))


@pytest.mark.weight(2)
def test_without_decay(agree, gated):
    """Compute causal linear attention if all logarithms are 0."""
    q, k, v, log_decay = gated(2, 3, 7)
    agree.gated_linear_attention(q, k, v, torch.zeros_like(log_decay))


@pytest.mark.weight(2)
def test_decay_begins_after_the_key(agree, gated):
    """Apply a token's own decay to all keys before it, but not to its own key."""
    q, k, v, log_decay = gated(2, 2, 6)
    log_decay[:, :, [0, 1, 3, 4]] = 0.0
    log_decay[:, :, [2, 5]] = torch.tensor([-1.5, -3.0])
    agree.gated_linear_attention(q, k, v, log_decay)
    output = agree.gated_linear_attention(
        q[:, :, :1], k[:, :, :1], v[:, :, :1], -2 - 0 * q[:, :, :1, 0]
    )
    same(
        output,
        (q[:, :, :1] * k[:, :, :1]).sum(-1, keepdim=True) * v[:, :, :1],
        "The first output is (q · k) v, whatever the first decay is.",
    )


@pytest.mark.weight(2)
def test_each_head_has_its_decay(agree, draw, gated):
    """Use the decays of each sequence and head."""
    q, k, v, _ = gated(3, 4, 6)
    factors = torch.tensor([0.01, 0.3, 1.0, 4.0])[None, :, None]
    agree.gated_linear_attention(q, k, v, -factors * draw.uniform(3, 4, 6, low=0.5, high=1.0))


def test_nothing_looks_ahead(agree, draw, gated):
    """Compute each output only from keys, values and decays up to its own position."""
    arguments = gated(2, 2, 7)
    changed = tuple(torch.cat([x[:, :, :4], 2 * x[:, :, 4:]], dim=2) for x in arguments)
    before = agree.gated_linear_attention(*arguments)
    after = agree.gated_linear_attention(*changed)
    same(after[:, :, :4], before[:, :, :4], "A later token changes an earlier output.")


@pytest.mark.weight(3)
@pytest.mark.dtypes("float64")
def test_strong_decay(agree, gated):
    """Return finite, correct outputs if the logarithms sum to far below -1000."""
    for least in (-40.0, -800.0):
        q, k, v, log_decay = gated(2, 2, 60, least=least)
        log_decay[:, :, 30:34] = 0.0
        all_finite(agree.within(1e-7).gated_linear_attention(q, k, v, log_decay))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_gradients_of_strong_decay(agree, gated):
    """Return finite, correct gradients if the logarithms sum to far below -1000."""
    agree.within(1e-7).gradients.gated_linear_attention(*gated(1, 2, 30, least=-400.0))


@pytest.mark.weight(2)
def test_nothing_is_normalised(agree, gated):
    """Use no feature map, no scale and no normalisation."""
    for d_k in (1, 4, 16):
        q, k, v, log_decay = gated(2, 2, 6, d_k=d_k)
        agree.gated_linear_attention(-3 * q, k, v, log_decay)


def test_sizes_of_heads(agree, gated):
    """Support values with fewer or more features than queries and keys."""
    for d_k, d_v in ((6, 2), (2, 6), (4, 4)):
        agree.gated_linear_attention(*gated(2, 2, 5, d_k=d_k, d_v=d_v))


def test_singleton_axes(agree, gated):
    """Keep axes of size 1, for a single sequence, head, position or feature."""
    for lead in ((1, 1, 4), (1, 3, 1), (3, 1, 1), (1, 1, 1)):
        agree.gated_linear_attention(*gated(*lead))
    agree.gated_linear_attention(*gated(2, 2, 4, d_k=1, d_v=1))


@pytest.mark.weight(2)
def test_gradients(agree, gated):
    """Propagate gradients to queries, keys, values and decays."""
    agree.gradients.gated_linear_attention(*gated(2, 3, 5))


def test_every_dtype(agree, gated, dtype):
    """Return the dtype of the values."""
    agree.gated_linear_attention(*gated(2, 2, 6))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_sums_in_halves(agree, draw, qkv, dtype):
    """Sum logarithms and scores in at least float32."""
    q, k, v = qkv(1, 2, 300)
    agree.gated_linear_attention(q, k, v, draw.uniform(1, 2, 300, low=-0.9, high=-0.1))
    q, k, v = qkv(1, 1, 30, d_k=16)
    log_decay = draw.uniform(1, 1, 30, low=-1.0, high=0.0)
    agree.gated_linear_attention(20 * q.abs() + 60, 20 * k.abs() + 60, v * 1e-3, log_decay)


def test_views(agree, draw, gated):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k, _, _ = (x.transpose(0, 2) for x in gated(6, 3, 2))
    v, log_decay = draw.normal(1, 3, 6, 5), draw.uniform(2, 1, 6, low=-1.0, high=0.0)
    agree.gated_linear_attention(q, k, v.expand(2, 3, 6, 5), log_decay.expand(2, 3, 6))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, gated, device):
    """Create all tensors on the device of the inputs."""
    agree.gated_linear_attention(*gated(2, 2, 5))


def test_many_keys(agree, gated):
    """Attend to every previous key, even with more than a thousand keys."""
    q, k, v, log_decay = gated(1, 1, 1100, least=-1e-4, d_k=2, d_v=2)
    v[:, :, :60] += 40
    agree.within(0.01, 0.001).gated_linear_attention(q, k, v, log_decay)


@pytest.mark.weight(2)
def test_refuses_other_shapes(submission, refuses, gated):
    """Raise ValueError if the shape of log_decay is not (B, H, T), and state its shape."""
    q, k, v, log_decay = gated(2, 3, 6)
    submission.gated_linear_attention(q, k, v, log_decay)
    for shape, shown in (((3, 6), 3), ((2, 3, 1), 1), ((2, 3, 6, 1), 1), ((1, 3, 6), 1)):
        wrong = -torch.ones(shape)
        refuses(ValueError, mentions=shown).gated_linear_attention(q, k, v, wrong)
