"""Hidden graders for `generate_cached`, with the models of injected.py and toys.py.

The models record how many tokens each call passes, so no test measures time. Logits are float32.
"""

import pytest

from autograder.authors import expect


@pytest.fixture
def model(injected):
    """Create a model whose next token depends on all previous tokens and their order.

    The model is in evaluation mode. In training mode, its logits do not depend on the tokens.
    """
    return lambda vocabulary=19: injected.impurely.weights(0.8).Model(vocabulary).eval()


@pytest.fixture
def toy(toys):
    """Create a model without weights, which predicts the sum of all previous tokens."""
    return lambda vocabulary=19: toys.impurely.SumModel(vocabulary).eval()


@pytest.fixture
def write(agree):
    """Compare the generated tokens; the final mode of the model has a separate test."""
    return lambda *arguments: agree.impurely.generate_cached(*arguments)


@pytest.mark.weight(3)
def test_most_likely_tokens(draw, model, toy, write):
    """Choose the most likely token given all previous tokens."""
    for pair in (toy(), model()):
        write(pair, draw.integers(0, 19, 5, 4), 1)  # caches with room for the prompt are enough
        write(pair, draw.integers(0, 19, 5, 4), 6)
        write(pair, draw.integers(0, 19, 3, 7), 3)


def test_the_prompt_comes_first(draw, toy, write):
    """Return the whole prompt, followed by the new tokens."""
    prompt = draw.integers(0, 19, 4, 6)
    ids = write(toy(), prompt, 3)
    expect(bool((ids[:, :6] == prompt).all()), "The prompt should be at the beginning.")


def test_shortest_texts(draw, model, toy, write):
    """Support one sequence, a prompt of one token and one new token."""
    for pair in (toy(), model()):
        write(pair, draw.integers(0, 19, 4, 1), 3)
        write(pair, draw.integers(0, 19, 1, 5), 3)
        write(pair, draw.integers(0, 19, 2, 5), 1)
        write(pair, draw.integers(0, 19, 1, 1), 1)


def test_nothing_to_add(draw, toy, write):
    """Return the prompt if no new tokens are requested."""
    write(toy(), draw.integers(0, 19, 3, 4), 0)


def test_no_token_ends_the_text(draw, toy, write):
    """Generate exactly as many new tokens as requested: no token ends the sequence."""
    write(toy(2), draw.integers(0, 2, 12, 3), 7)


@pytest.mark.weight(6)
def test_every_token_is_fed_once(draw, model, toy, write):
    """Pass the prompt in one call, then each new token alone; process no token twice."""
    pair = toy()
    write(pair, draw.integers(0, 19, 3, 6), 5)
    expect(pair.student.first in (5, 6), "The first call should feed the whole prompt.")
    expect(pair.student.fed <= 11, "More tokens are fed than there are.")
    pair = model()
    write(pair, draw.integers(0, 19, 3, 6), 5)
    fed = [tuple(shape) for shape in pair.student.fed]
    # allowed: also feeding the last new token, or feeding the prompt's last token separately
    expect(fed[:1] in ([(3, 6)], [(3, 5)]), "The first call should feed the whole prompt.")
    expect(all(shape == (3, 1) for shape in fed[1:]), "After it, each call should feed one token.")
    expect(sum(new for _, new in fed) <= 11, "More tokens are fed than there are.")


@pytest.mark.weight(2)
def test_caches_are_made_once(draw, model, toy, write):
    """Create new caches once, with room for the prompt and the new tokens."""
    pair = toy()
    write(pair, draw.integers(0, 19, 3, 6), 4)
    expect(pair.student.requests == 1, "New caches should be requested once per call.")
    expect(pair.student.room in (9, 10), "The caches should have room for all fed tokens.")
    pair = model()
    write(pair, draw.integers(0, 19, 3, 6), 4)
    asked = [tuple(each) for each in pair.student.asked]
    expect(len(asked) == 1, "New caches should be requested once per call.")
    expect(asked[0][0] == 3, "The caches should be made for the sequences of the batch.")
    expect(asked[0][1] in (9, 10), "The caches should have room for all tokens that are fed.")


@pytest.mark.weight(3)
def test_a_text_after_another(draw, model, toy, write):
    """Start a second prompt with empty caches."""
    for pair in (toy(), model()):
        for length in (1, 6, 3):  # with 1 token, room for only the new tokens is enough
            write(pair, draw.integers(0, 19, 2, length), 3)


@pytest.mark.weight(2)
def test_evaluation_mode(draw, model, toy, write):
    """Generate in evaluation mode, even if the model is in training mode."""
    for pair in (toy(), model()):
        write(pair.train(), draw.integers(0, 19, 4, 5), 4)


def test_mode_is_left(agree, draw, toy):
    """Restore the model's mode and the gradient mode."""
    for mode in (True, False):
        pair = toy().train(mode)
        agree.generate_cached(pair, draw.integers(0, 19, 2, 4), 3)


def test_the_callers_prompt(agree, draw, toy):
    """Accept views as prompts, and leave them unchanged."""
    pair = toy()
    for prompt in (draw.integers(0, 19, 3, 5).T, draw.integers(0, 19, 1, 3).expand(4, 3)):
        agree.generate_cached(pair, prompt, max_new_tokens=2)


@pytest.mark.weight(1, elsewhere=4)
def test_device(draw, model, toy, write, device):
    """Create new tokens on the device of the prompt."""
    for pair in (toy(), model()):
        write(pair, draw.integers(0, 19, 3, 4), 2)
