"""Hidden graders for `generate`.

Tokens are drawn in float32, where the same generator gives the same ones to everyone.
"""

import pytest

from autograder.authors import expect, generator_seed


@pytest.fixture
def model(language_model):
    """A model of 23 tokens that is to be shown six at a time."""
    return lambda **options: language_model(23, **({"max_len": 6} | options))


def drawn(agree, draw, pair, prompt, new, temperature=1.5):
    """The same tokens drawn by both sides; the mode that the model is left in has its own test."""
    generator = generator_seed(draw.seed())
    return agree.impurely.generate(pair, prompt, new, temperature, generator)


@pytest.mark.weight(2)
def test_most_likely_token(agree, draw, model):
    """At temperature 0 every new token is the most likely one after all that came before."""
    for temperature in (0, 0.0):
        pair = model(max_len=12)
        agree.impurely.generate(pair, draw.integers(0, 23, 6, 4), 7, temperature=temperature)


@pytest.mark.weight(2)
def test_drawn_tokens(agree, draw, model):
    """Each new token is drawn with the probabilities that the model gives after all before it."""
    pair = model(max_len=12)
    prompt = draw.integers(0, 23, 9, 4)
    agree.impurely.generate(pair, prompt, 7, generator=generator_seed(draw.seed()))
    drawn(agree, draw, pair, prompt[:, :2], 9, 1.0)


def test_temperature(agree, draw, model):
    """The logits are divided by the temperature before the softmax."""
    pair = model()
    for temperature in (0.4, 3.0):
        drawn(agree, draw, pair, draw.integers(0, 23, 10, 2), 4, temperature)


def test_memory_of_the_model(agree, draw, model):
    """The model is shown the last max_len tokens, from a long prompt and of its own long text."""
    pair = model()
    for length in (5, 6, 7, 11):
        drawn(agree, draw, pair, draw.integers(0, 23, 8, length), 1)
    drawn(agree, draw, pair, draw.integers(0, 23, 8, 3), 8)


def test_the_prompt_comes_first(agree, draw, model):
    """The whole prompt is part of the result, even if the model was shown only its end."""
    pair = model()
    for length in (2, 9):
        prompt = draw.integers(0, 23, 5, length)
        ids = drawn(agree, draw, pair, prompt, 4)
        expect(bool((ids[:, :length] == prompt).all()), "The prompt should stand at the beginning.")


def test_shortest_texts(agree, draw, model):
    """One sequence, one token to begin with, one token to add, a max_len of 1."""
    pair = model()
    drawn(agree, draw, pair, draw.integers(0, 23, 1, 3), 2)
    drawn(agree, draw, pair, draw.integers(0, 23, 4, 1), 1)
    drawn(agree, draw, model(max_len=1), draw.integers(0, 23, 4, 3), 4)


def test_nothing_to_add(agree, draw, model):
    """Without new tokens the result is the prompt."""
    pair = model()
    agree.impurely.generate(pair, draw.integers(0, 23, 2, 4), 0)
    agree.impurely.generate(pair, draw.integers(0, 23, 2, 4), max_new_tokens=2, temperature=0)


def test_no_token_ends_the_text(agree, draw, language_model):
    """There are always as many new tokens as asked for: no token means the end."""
    pair = language_model(2, max_len=6)  # so that both tokens come
    drawn(agree, draw, pair, draw.integers(0, 2, 1, 3), 12)


def test_equal_prompts_go_different_ways(agree, draw, model):
    """Every sequence of the batch has a draw of its own."""
    prompt = draw.integers(0, 23, 1, 3).expand(12, 3)
    ids = drawn(agree, draw, model(), prompt, 5, temperature=50.0)  # any token is likely
    expect(bool((ids != ids[:1]).any()), "Equal prompts all got the same continuation.")


def test_without_a_generator(agree, draw, model):
    """Without a generator torch's own is used; at a temperature near 0 the draw does not matter."""
    agree.impurely.generate(model(), draw.integers(0, 23, 4, 3), 4, temperature=1e-5)


@pytest.mark.weight(4)
def test_dropout_is_off(agree, draw, model):
    """The model writes in evaluation mode, whichever mode it was in before."""
    for mode in (True, False):
        drawn(agree, draw, model(dropout=1.0).train(mode), draw.integers(0, 23, 8, 4), 4)


def test_mode_is_restored(agree, draw, model):
    """Afterwards the model and all its parts are in the mode that they were in before."""
    for mode in (True, False):
        pair = model(dropout=1.0).train(mode)
        drawn(agree, draw, pair, draw.integers(0, 23, 5, 4), 2)
        kept = pair.student.training is mode
        expect(kept, f"A model in {'training' if mode else 'evaluation'} mode should stay in it.")
        pair(draw.integers(0, 23, 5, 4))


def test_the_callers_things(agree, draw, model):
    """Prompts may be views; they stay as they were, and so does torch's global random state."""
    pair = model().eval()
    for prompt in (draw.integers(0, 23, 3, 5).T, draw.integers(0, 23, 3, 8)[:, 1::2]):
        agree.generate(pair, prompt, 4, generator=generator_seed(draw.seed()))


def test_a_whole_transformer(agree, brought, draw):
    """A transformer that refuses more than max_len tokens writes in the same way."""
    pair = brought.impurely.weights(0.6).Transformer(23, 6)
    drawn(agree, draw, pair, draw.integers(0, 23, 8, 3), 6, 2.0)


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, model, device):
    """New tokens are made on the device of the prompt."""
    pair = model(device=device)
    agree.impurely.generate(pair, draw.integers(0, 23, 3, 4), 4, temperature=0)


@pytest.mark.weight(2)
def test_no_gradient_is_recorded(agree, draw, brought):
    """While the model writes, nothing is recorded for a backward pass."""
    watched = brought.impurely.weights(0.8).Watched(23, 6)
    agree.impurely.generate(watched, draw.integers(0, 23, 3, 4), 5, temperature=0)
    expect(
        watched.student.recorded() is False,
        "While writing, the model should record nothing for a backward pass (torch.no_grad).",
    )


def test_the_model_can_be_trained_afterwards(agree, draw, model):
    """Afterwards every parameter gets its gradient as before."""
    pair = model()
    agree.impurely.generate(pair, draw.integers(0, 23, 3, 4), 2, temperature=0)
    pair.gradients(draw.integers(0, 23, 3, 4))
