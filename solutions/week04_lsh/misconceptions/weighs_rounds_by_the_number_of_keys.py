"""Weights the rounds by the number of visible keys, ignoring their scores.

Exercise: lsh_attention
Believes: A round is worth as much as it has keys.
Shows: Right for one round; a round with many useless keys outweighs one with a few good ones.
Hint: The denominator of a softmax adds up more than ones. What does each key contribute to it?
Rejected by: test_rounds_count_by_what_they_found
Costs: 25 %
"""


def _attend(scores, visible, values):
    found = visible.sum(dim=-1, keepdim=True).log().to(scores.dtype)
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1) @ values, found
