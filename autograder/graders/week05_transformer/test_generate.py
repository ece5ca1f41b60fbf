"""Hidden graders for `generate`.

Tokens are drawn in float32, where correct programs draw equal tokens from equal seeds.
"""

import pytest

from autograder.authors import expect, generator_seed


@pytest.fixture
def model(language_model):
    """Return a function that creates models with a vocabulary of 23 and a default max_len of 6."""
    return lambda **options: language_model(23, **({"max_len": 6} | options))


def drawn(agree, draw, pair, prompt, new, temperature=1.5):
    """Compare the generated tokens; test_mode_is_restored compares the final mode."""
    generator = generator_seed(draw.seed())
    return agree.impurely.generate(pair, prompt, new, temperature, generator)


@pytest.mark.weight(2)
def test_most_likely_token(agree, draw, model):
    """Choose the most likely token after all previous ones at temperature 0."""
    for temperature in (0, 0.0):
        pair = model(max_len=12)
        agree.impurely.generate(pair, draw.integers(0, 23, 6, 4), 7, temperature=temperature)


@pytest.mark.weight(2)
def test_drawn_tokens(agree, draw, model):
    """Draw each new token with the model's probabilities after all previous tokens."""
    pair = model(max_len=12)
    prompt = draw.integers(0, 23, 9, 4)
    agree.impurely.generate(pair, prompt, 7, generator=generator_seed(draw.seed()))
    drawn(agree, draw, pair, prompt[:, :2], 9, 1.0)


def test_temperature(agree, draw, model):
    """Divide the logits by the temperature before the softmax."""
    pair = model()
    for temperature in (0.4, 3.0):
        drawn(agree, draw, pair, draw.integers(0, 23, 10, 2), 4, temperature)


def test_memory_of_the_model(agree, draw, model):
    """Pass at most the last max_len tokens to the model, for long prompts and long results."""
    pair = model()
    for length in (5, 6, 7, 11):
        drawn(agree, draw, pair, draw.integers(0, 23, 8, length), 1)
    drawn(agree, draw, pair, draw.integers(0, 23, 8, 3), 8)


def test_the_prompt_comes_first(agree, draw, model):
    """Begin the result with the whole prompt, even if the model received only its end."""
    pair = model()
    for length in (2, 9):
        prompt = draw.integers(0, 23, 5, length)
        ids = drawn(agree, draw, pair, prompt, 4)
        expect(bool((ids[:, :length] == prompt).all()), "The prompt should be at the beginning.")


def test_shortest_texts(agree, draw, model):
    """Support one sequence, a prompt of one token, one new token and a max_len of 1."""
    pair = model()
    drawn(agree, draw, pair, draw.integers(0, 23, 1, 3), 2)
    drawn(agree, draw, pair, draw.integers(0, 23, 4, 1), 1)
    drawn(agree, draw, model(max_len=1), draw.integers(0, 23, 4, 3), 4)


def test_nothing_to_add(agree, draw, model):
    """Return the prompt if no new tokens are requested."""
    pair = model()
    agree.impurely.generate(pair, draw.integers(0, 23, 2, 4), 0)
    agree.impurely.generate(pair, draw.integers(0, 23, 2, 4), max_new_tokens=2, temperature=0)


def test_no_token_ends_the_text(agree, draw, language_model):
    """Generate exactly as many new tokens as requested: no token ends the text."""
    pair = language_model(2, max_len=6)  # so few tokens that both are likely to occur
    drawn(agree, draw, pair, draw.integers(0, 2, 1, 3), 12)


def test_equal_prompts_go_different_ways(agree, draw, model):
    """Draw separately for every sequence of the batch."""
    prompt = draw.integers(0, 23, 1, 3).expand(12, 3)
    ids = drawn(agree, draw, model(), prompt, 5, temperature=50.0)  # nearly uniform
    expect(bool((ids != ids[:1]).any()), "Equal prompts all got the same continuation.")


def test_without_a_generator(agree, draw, model):
    """Use torch's default generator if none is given."""
    agree.impurely.generate(model(), draw.integers(0, 23, 4, 3), 4, temperature=1e-5)


@pytest.mark.weight(4)
def test_dropout_is_off(agree, draw, model):
    """Generate in evaluation mode, even if the model was in training mode."""
    for mode in (True, False):
        drawn(agree, draw, model(dropout=1.0).train(mode), draw.integers(0, 23, 8, 4), 4)


def test_mode_is_restored(agree, draw, model):
    """Restore the previous mode of the model and its submodules."""
    for mode in (True, False):
        pair = model(dropout=1.0).train(mode)
        drawn(agree, draw, pair, draw.integers(0, 23, 5, 4), 2)
        kept = pair.student.training is mode
        expect(kept, f"A model in {'training' if mode else 'evaluation'} mode should stay in it.")
        pair(draw.integers(0, 23, 5, 4))


def test_the_callers_things(agree, draw, model):
    """Accept views as prompts; leave them and torch's global random state unchanged."""
    pair = model().eval()
    for prompt in (draw.integers(0, 23, 3, 5).T, draw.integers(0, 23, 3, 8)[:, 1::2]):
        agree.generate(pair, prompt, 4, generator=generator_seed(draw.seed()))


def test_a_whole_transformer(agree, injected, draw):
    """Support a transformer that rejects more than max_len tokens."""
    pair = injected.impurely.weights(0.6).Transformer(23, 6)
    drawn(agree, draw, pair, draw.integers(0, 23, 8, 3), 6, 2.0)


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, model, device):
    """Create new tokens on the device of the prompt."""
    pair = model(device=device)
    agree.impurely.generate(pair, draw.integers(0, 23, 3, 4), 4, temperature=0)


@pytest.mark.weight(2)
def test_no_gradient_is_recorded(agree, draw, injected):
    """Disable gradients during generation, so that no graph is recorded."""
    watched = injected.impurely.weights(0.8).Watched(23, 6)
    agree.impurely.generate(watched, draw.integers(0, 23, 3, 4), 5, temperature=0)
    expect(
        watched.student.recorded() is False,
        "Generation should record no graph for a backward pass (torch.no_grad).",
    )


def test_the_model_can_be_trained_afterwards(agree, draw, model):
    """Leave the model trainable: afterwards every parameter gets its gradient."""
    pair = model()
    agree.impurely.generate(pair, draw.integers(0, 23, 3, 4), 2, temperature=0)
    pair.gradients(draw.integers(0, 23, 3, 4))
