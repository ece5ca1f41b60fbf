"""Computes in float32, which is fine, but also returns float32 for every dtype of the input.

Exercise: masked_softmax
Believes: float32 is the dtype of results.
Shows: returns float32 for half precision; float64 loses digits.
Hint: Computing in a wider type is a good idea. What does the next matrix product expect?
Rejected by: test_keeps_the_dtype
Costs: 20 %
Belief: float_type_of_the_answer
"""


def masked_softmax(scores, mask, dim=-1):
    scores = scores.float().masked_fill(~mask, torch.finfo(torch.float32).min)
    return torch.softmax(scores, dim=dim).masked_fill(~mask, 0.0)
