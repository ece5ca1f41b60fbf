"""Returns the scaled scores as the weights.

Exercise: scaled_dot_product_attention
Believes: scores and weights are two words for the same.
Shows: the second result has negative entries and rows that do not sum to 1.
Hint: The output is right. Which of your intermediate results sums to 1 in each row?
Rejected by: test_weights_belong_to_the_output
Costs: 20 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, scores
