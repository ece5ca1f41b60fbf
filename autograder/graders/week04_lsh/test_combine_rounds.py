"""Hidden graders for `combine_rounds`."""

import pytest
import torch

from autograder.authors import all_finite, expect, same


def test_values(agree, draw):
    """Weight the rounds by the softmax of their logsumexps."""
    agree.combine_rounds(draw.normal(3, 7, 5), draw.normal(3, 7, std=2.0))


def test_any_leading_dimensions(agree, draw):
    """Support zero, one or two leading dimensions."""
    for lead in ((), (2,), (2, 6)):
        agree.combine_rounds(draw.normal(*lead, 3, 7, 5), draw.normal(*lead, 3, 7))


def test_one_round(agree, draw):
    """Return a single round unchanged."""
    outputs = draw.normal(2, 1, 7, 5)
    result = agree.combine_rounds(outputs, draw.normal(2, 1, 7, std=3.0))
    same(result, outputs[:, 0], "A single round should be returned unchanged.")


def test_agreement_is_kept(agree, draw):
    """Return the common output if all rounds agree, for any logsumexps."""
    outputs = draw.normal(2, 1, 7, 5).expand(2, 4, 7, 5)
    result = agree.combine_rounds(outputs, draw.normal(2, 4, 7))
    same(result, outputs[:, 0], "If all rounds agree, their combination should say the same.")


def test_far_from_zero(agree, draw):
    """Avoid overflow and underflow for logsumexps far from zero or far apart."""
    # In the last case, the positions are far apart.
    for far in (1000.0, -1000.0, -200.0 * torch.arange(7)):
        # Near 1000, float32 values are 6e-5 apart: exp(a - logsumexp(a)) is accurate to 1e-4.
        result = agree.within(atol=1e-3).combine_rounds(
            draw.normal(2, 3, 7, 5), draw.normal(2, 3, 7) + far
        )
        all_finite(result)
    apart = draw.normal(2, 3, 7)
    apart[:, 1] -= 1e5
    agree.combine_rounds(draw.normal(2, 3, 7, 5), apart)


def test_round_without_keys(agree, draw):
    """Give a round no weight at positions where its logsumexp is -inf."""
    logsumexps = draw.normal(2, 3, 7)
    logsumexps[:, 2, :4] = -torch.inf
    logsumexps[:, 0, 3:] = -torch.inf
    agree.gradients.combine_rounds(draw.normal(2, 3, 7, 5), logsumexps)


def test_gradients(agree, draw):
    """Propagate gradients to both the outputs and the logsumexps."""
    agree.gradients.combine_rounds(draw.normal(2, 3, 7, 5), draw.normal(2, 3, 7))


def test_dtypes(agree, draw, dtype):
    """Return a result in the dtype of the inputs, accurate to the precision of that dtype."""
    agree.combine_rounds(draw.normal(3, 7, 5), draw.normal(3, 7))


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_outputs_with_float32_logsumexps(agree, draw, dtype):
    """Return a result in the dtype of `outputs`, even if the logsumexps are float32."""
    agree.combine_rounds(draw.normal(3, 7, 5), draw.normal(3, 7).float())


def test_views(agree, draw):
    """Return the same result for transposed and expanded inputs as for copies."""
    outputs, logsumexps = draw.normal(2, 7, 3, 5), draw.normal(2, 7, 3)
    agree.combine_rounds(outputs.transpose(1, 2), logsumexps.transpose(1, 2))
    swapped = draw.normal(4, 2, 3, 7, 5).transpose(0, 1), draw.normal(4, 2, 3, 7).transpose(0, 1)
    agree.combine_rounds(*swapped)
    agree.combine_rounds(
        outputs[:1].transpose(1, 2).expand(4, 3, 7, 5), logsumexps[:1].mT.expand(4, 3, 7)
    )


@pytest.mark.weight(1, elsewhere=3)
def test_devices(agree, draw, device):
    """Return a result on the device of the inputs."""
    agree.combine_rounds(draw.normal(2, 3, 7, 5), draw.normal(2, 3, 7))


def test_position_without_keys_in_any_round(agree, draw):
    """Return zeros for a position without visible keys in any round, and no NaN in gradients."""
    logsumexps = draw.normal(2, 3, 7)
    logsumexps[:, :, 4] = logsumexps[1, :, 0] = -torch.inf
    combined = agree.combine_rounds(draw.normal(2, 3, 7, 5), logsumexps)
    expect(not combined[:, 4].any(), "A position that is alone in every round should get zeros.")
    agree.gradients.combine_rounds(draw.normal(2, 3, 7, 5), logsumexps)
    agree.gradients.combine_rounds(draw.normal(2, 7, 5), torch.full((2, 7), -torch.inf))


def test_gradients_with_singleton_axes(agree, draw):
    """Compute correct gradients for a single round, a single position or a single feature."""
    for rounds, length, size in ((1, 7, 5), (3, 1, 5), (3, 7, 1), (3, 1, 1)):
        outputs, logsumexps = draw.normal(2, rounds, length, size), draw.normal(2, rounds, length)
        agree.gradients.combine_rounds(outputs, logsumexps)


def test_many_positions(agree, draw):
    """Combine more than a thousand positions, each with the weights of its rounds."""
    agree.combine_rounds(draw.normal(2, 1100, 2), draw.normal(2, 1100, std=2.0))


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    first, second = ((draw.normal(2, 3, 7, 5), draw.normal(2, 3, 7)) for _ in range(2))
    agree.gradients.in_a_row.combine_rounds(first, second)
