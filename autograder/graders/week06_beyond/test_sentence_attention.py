"""Hidden graders for `sentence_attention`, on small encoders with random weights.

Two tests check that the model is restored; the others allow changes to it (`impurely`).
"""

import pytest

from autograder.authors import expect, hf_encoder, rows_sum_to_one

VOCABULARY = ["the", "cat", "##s", "sat", "on", "a", "mat", "under", "##stand", ".", ",", "?"]
SENTENCE = "The cats sat on a mat."


def encoder(draw, attention="eager", **settings):
    """Create a small encoder; its attention is eager by default, so that it can return weights."""
    settings |= {"attention": attention}
    return hf_encoder(seed=draw.seed(), vocabulary=VOCABULARY, **settings)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return the weights of all layers and heads, with a row and a column per token."""
    bert = encoder(draw, layers=3, heads=2)
    _, weights = agree.impurely.sentence_attention(bert.model, bert.tokenizer, SENTENCE)
    rows_sum_to_one(weights)


@pytest.mark.weight(2)
def test_tokens(agree, draw):
    """Return the model's tokens, including special tokens, subwords and unknown words."""
    bert = encoder(draw)
    sentences = (SENTENCE, "A zebra, on the mat?", "understand, cats")
    for sentence in sentences:
        tokens, _ = agree.impurely.sentence_attention(bert.model, bert.tokenizer, sentence)
        expect(tokens[0] == "[CLS]", "Special tokens are tokens too.")


def test_sizes(agree, draw):
    """Return weights for as many layers and heads as the model has."""
    for layers, heads, hidden in ((1, 4, 12), (4, 1, 8), (2, 3, 6)):
        bert = encoder(draw, layers=layers, heads=heads, hidden=hidden)
        agree.impurely.sentence_attention(bert.model, bert.tokenizer, "The cat sat.")


def test_singleton_axes(agree, draw):
    """Return weights with four axes even for one layer, one head and one word."""
    bert = encoder(draw, layers=1, heads=1)
    agree.impurely.sentence_attention(bert.model, bert.tokenizer, "cat")


@pytest.mark.weight(2)
def test_fused_attention(agree, draw):
    """Switch a model with fused attention to eager attention for the call."""
    bert = encoder(draw, attention="sdpa")
    agree.impurely.sentence_attention(bert.model, bert.tokenizer, SENTENCE)


@pytest.mark.weight(2)
def test_no_dropout(agree, draw):
    """Run the model in evaluation mode, so that dropout has no effect."""
    bert = encoder(draw, training=True)
    agree.impurely.sentence_attention(bert.model, bert.tokenizer, SENTENCE)


def test_mode_is_given_back(agree, draw):
    """Restore the model's mode (training or evaluation) afterwards."""
    for training in (True, False):
        bert = encoder(draw, training=training)
        agree.sentence_attention(bert.model, bert.tokenizer, SENTENCE)


def test_attention_is_given_back(agree, draw):
    """Restore fused attention afterwards; an eager model stays eager."""
    for attention in ("sdpa", "eager"):
        bert = encoder(draw, attention=attention)
        agree.sentence_attention(bert.model, bert.tokenizer, SENTENCE)


@pytest.mark.dtypes("bfloat16", "float64")
def test_dtype_of_the_model(agree, draw, dtype):
    """Return weights in the dtype of the model."""
    bert = encoder(draw, dtype=str(dtype).removeprefix("torch."))
    agree.impurely.sentence_attention(bert.model, bert.tokenizer, SENTENCE)


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Move the tokens to the device of the model."""
    bert = encoder(draw)
    agree.impurely.sentence_attention(bert.model, bert.tokenizer, SENTENCE)
