"""Takes the exponential of the scores without bringing them down first.

Exercise: softmax
Believes: torch takes care of large numbers.
Shows: NaN for scores above 88 in float32 and already above 11 in float16.
Hint: What is torch.exp of 100, and of 12 in half precision? A whole row may be shifted at no cost.
Rejected by: test_large_scores
Costs: 35 %
Belief: overflow
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
