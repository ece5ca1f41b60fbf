"""Hidden graders for `generate`.

The most likely token of a model with drawn weights is often the same wherever one looks, so that
most tests draw tokens: in float32 the same generator gives the same ones to everyone.
"""

import pytest

from autograder.grading.properties import expect, generator_seed

SIZES = {"vocab_size": 23, "d_model": 8, "n_heads": 2, "n_layers": 1, "max_len": 6}


def pair_of(agree, **sizes):
    return agree.weights(0.6).MiniTransformer(**SIZES | sizes)


def drawn(agree, draw, pair, prompt, new, temperature=2.0):
    """The same tokens drawn by both sides; the mode that the model is left in has its own test."""
    generator = generator_seed(draw.seed())
    return agree.impurely.generate(pair, prompt, new, temperature, generator)


@pytest.mark.weight(2)
def test_most_likely_token(agree, draw):
    """At temperature 0 every new token is the most likely one after all that came before."""
    for temperature in (0, 0.0, 0, 0, 0):
        pair = pair_of(agree, max_len=12)
        prompt = draw.integers(0, 23, 6, 4)
        agree.impurely.generate(pair, prompt, 7, temperature=temperature)


@pytest.mark.weight(2)
def test_drawn_tokens(agree, draw):
    """Each new token is drawn with the probabilities that the model gives after all before it."""
    pair = pair_of(agree, max_len=12)
    prompt = draw.integers(0, 23, 9, 4)
    agree.impurely.generate(pair, prompt, 7, generator=generator_seed(draw.seed()))
    drawn(agree, draw, pair, prompt[:, :2], 9, 1.0)


def test_temperature(agree, draw):
    """The logits are divided by the temperature before the softmax."""
    pair = pair_of(agree)
    for temperature in (0.4, 3.0):
        drawn(agree, draw, pair, draw.integers(0, 23, 10, 2), 4, temperature)


def test_model_without_blocks(agree, draw):
    """Any model that gives logits can write, even one that cannot attend."""
    pair = pair_of(agree, n_layers=0)
    agree.impurely.generate(pair, draw.integers(0, 23, 8, 2), 4, temperature=0)
    drawn(agree, draw, pair, draw.integers(0, 23, 8, 2), 4)


def test_memory_of_the_model(agree, draw):
    """The model is shown the last max_len tokens, from a long prompt and of its own long text."""
    pair = pair_of(agree)
    for length in (5, 6, 7, 11):
        drawn(agree, draw, pair, draw.integers(0, 23, 8, length), 1)
    drawn(agree, draw, pair, draw.integers(0, 23, 8, 3), 8)


def test_the_prompt_comes_first(agree, draw):
    """However little of it the model was shown, the whole prompt is part of the result."""
    pair = pair_of(agree)
    for length in (2, 9):
        prompt = draw.integers(0, 23, 5, length)
        ids = drawn(agree, draw, pair, prompt, 4)
        expect(bool((ids[:, :length] == prompt).all()), "The prompt should stand at the beginning.")


def test_shortest_texts(agree, draw):
    """One sequence, one token to begin with, one token to add, a memory of one token."""
    pair = pair_of(agree)
    drawn(agree, draw, pair, draw.integers(0, 23, 1, 3), 2)
    drawn(agree, draw, pair, draw.integers(0, 23, 4, 1), 1)
    drawn(agree, draw, pair_of(agree, max_len=1), draw.integers(0, 23, 4, 3), 4)


def test_nothing_to_add(agree, draw):
    """Without new tokens the result is the prompt."""
    pair = pair_of(agree)
    agree.impurely.generate(pair, draw.integers(0, 23, 2, 4), 0)
    agree.impurely.generate(pair, draw.integers(0, 23, 2, 4), max_new_tokens=2, temperature=0)


def test_equal_prompts_go_different_ways(agree, draw):
    """Every sequence of the batch has a draw of its own."""
    pair = pair_of(agree)
    prompt = draw.integers(0, 23, 1, 3).expand(12, 3)
    ids = drawn(agree, draw, pair, prompt, 5)
    expect(bool((ids != ids[:1]).any()), "Equal prompts all got the same continuation.")


def test_without_a_generator(agree, draw):
    """Without a generator torch's own serves; at a temperature near 0 luck plays no part."""
    pair = pair_of(agree)
    agree.impurely.generate(pair, draw.integers(0, 23, 4, 3), 4, temperature=1e-5)


def test_dropout_is_off(agree, draw):
    """The model writes in evaluation mode, in whichever it came."""
    for mode in (True, False):
        pair = pair_of(agree, dropout=1.0).train(mode)
        drawn(agree, draw, pair, draw.integers(0, 23, 8, 4), 4)


def test_mode_is_restored(agree, draw):
    """Afterwards the model and all its parts are in the mode in which they came."""
    for mode in (True, False):
        pair = pair_of(agree, dropout=1.0).train(mode)
        drawn(agree, draw, pair, draw.integers(0, 23, 5, 4), 2)
        kept = pair.student.training is mode
        expect(kept, f"A model that came in {'training' if mode else 'evaluation'} mode left it.")
        pair.impurely(draw.integers(0, 23, 5, 4))


def test_the_callers_things(agree, draw):
    """Prompts may be views; they stay as they were, and so does torch's global random state."""
    pair = pair_of(agree).eval()
    for prompt in (draw.integers(0, 23, 3, 5).T, draw.integers(0, 23, 3, 8)[:, 1::2]):
        agree.generate(pair, prompt, 4, generator=generator_seed(draw.seed()))


def test_device(agree, draw, device):
    """New tokens are made where the prompt lives."""
    pair = pair_of(agree)
    agree.impurely.generate(pair, draw.integers(0, 23, 3, 4), 4, temperature=0)
