"""Returns a mask of floats that is meant to be added to the scores.

Exercise: causal_mask
Believes: a mask is something that is added to the scores, as in nn.Transformer.
Shows: zeros where True is wanted, -inf where False is wanted.
Hint: That is another convention. Here the mask only says who may attend; what to do with it is up
    to `masked_softmax`.
Rejected by: test_is_boolean
Costs: 90 %
Belief: bool_masks
"""


def causal_mask(seq_len, device=None):
    return torch.full((seq_len, seq_len), float("-inf"), device=device).triu(diagonal=1)
