"""Hidden graders for `rotary_frequencies`. Correct programs may compute in float32."""

import pytest

NEAR = {"atol": 1e-7, "rtol": 2e-5}


@pytest.mark.weight(2)
def test_without_scaling(agree):
    """Return base^(-2i/d) for the d/2 pairs."""
    for d in (2, 4, 6, 10, 64):
        agree.within(**NEAR).rotary_frequencies(d)


def test_base(agree):
    """Use the given base."""
    for base in (50.0, 500000.0):
        agree.within(**NEAR).rotary_frequencies(8, base)
        agree.within(**NEAR).rotary_frequencies(12, base=base, factor=1.0)


@pytest.mark.weight(2)
def test_linear(agree):
    """Divide every frequency by the factor, which is the default method."""
    for factor in (1.5, 2, 8.0):
        agree.within(**NEAR).rotary_frequencies(8, factor=factor)
        agree.within(**NEAR).rotary_frequencies(6, 300.0, factor, "linear")


@pytest.mark.weight(3)
def test_ntk(agree):
    """Raise the base to base · factor^(d/(d-2)) with the method "ntk"."""
    for d, factor in ((4, 3.0), (6, 2.0), (8, 1.25), (32, 4)):
        agree.within(**NEAR).rotary_frequencies(d, factor=factor, method="ntk")
    agree.within(**NEAR).rotary_frequencies(6, 70.0, 5.0, "ntk")


@pytest.mark.weight(4)
def test_yarn(agree):
    """Interpolate by parts with "yarn", by the turns of each pair within the trained context."""
    for d, length in ((16, 64), (32, 256), (64, 2048)):
        for factor in (2.0, 8):
            agree.within(**NEAR).rotary_frequencies(d, factor=factor, method="yarn", length=length)
    agree.within(**NEAR).rotary_frequencies(24, 500.0, 3.0, "yarn", 128)


def test_yarn_leaves_fast_pairs(agree):
    """With "yarn", keep pairs that make more than 32 turns, and divide those below one turn."""
    agree.within(**NEAR).rotary_frequencies(8, 10.0, 4.0, "yarn", length=5000)
    agree.within(**NEAR).rotary_frequencies(8, 1e6, 4.0, "yarn", length=6)


def test_a_factor_of_one(agree):
    """Change nothing if the factor is 1, with any method."""
    for method in ("linear", "ntk", "yarn"):
        agree.within(**NEAR).rotary_frequencies(12, 400.0, 1.0, method, 64)


def test_length_of_other_methods(agree):
    """Ignore `length` in "linear" and "ntk"."""
    for method in ("linear", "ntk"):
        agree.within(**NEAR).rotary_frequencies(8, factor=2.0, method=method, length=16)


def test_refuses_odd_widths(submission, refuses):
    """Raise a ValueError that states d if it is odd."""
    submission.rotary_frequencies(6)
    refuses(ValueError, mentions=7).rotary_frequencies(7)
    refuses(ValueError, mentions=13).rotary_frequencies(13, factor=2.0, method="ntk")


def test_refuses_small_factors(submission, refuses):
    """Raise a ValueError that states the factor if it is below 1."""
    submission.rotary_frequencies(6, factor=1.0)
    for method in ("linear", "ntk"):
        refuses(ValueError, mentions=0.75).rotary_frequencies(6, factor=0.75, method=method)


def test_refuses_unknown_methods(submission, refuses):
    """Raise a ValueError that names the method if it is unknown, even if the factor is 1."""
    submission.rotary_frequencies(6, method="ntk")
    refuses(ValueError, mentions="dynamic").rotary_frequencies(6, factor=2.0, method="dynamic")
    refuses(ValueError, mentions="cubic").rotary_frequencies(6, method="cubic")


def test_refuses_yarn_without_a_length(submission, refuses):
    """Raise a ValueError if "yarn" gets no length."""
    submission.rotary_frequencies(6, factor=2.0, method="yarn", length=32)
    refuses(ValueError).rotary_frequencies(6, factor=2.0, method="yarn")
