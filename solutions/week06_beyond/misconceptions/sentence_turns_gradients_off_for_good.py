"""Turns gradients off and leaves them off.

Exercise: sentence_attention
Believes: set_grad_enabled(False) is how one reads without recording.
Shows: the right weights, but afterwards nothing in the caller's program learns.
Hint: Which form of no_grad ends by itself?
Rejected by: test_mode_is_given_back
Costs: 20 %
"""

_sentence = sentence_attention


def sentence_attention(model, tokenizer, sentence):
    torch.set_grad_enabled(False)
    return _sentence(model, tokenizer, sentence)
