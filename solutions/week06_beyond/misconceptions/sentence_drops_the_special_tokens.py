"""Leaves out [CLS] and [SEP], from the tokens and from the weights.

Exercise: sentence_attention
Believes: special tokens are packaging, not part of the sentence.
Shows: rows no longer sum to 1; what [CLS] and [SEP] take, often most of it, is hidden.
Hint: Sum a row of your weights. Where did the rest go?
Rejected by: test_tokens
Costs: 25 %
"""

_right_sentence_attention = sentence_attention


def sentence_attention(model, tokenizer, sentence):
    tokens, weights = _right_sentence_attention(model, tokenizer, sentence)
    return tokens[1:-1], weights[:, :, 1:-1, 1:-1]
