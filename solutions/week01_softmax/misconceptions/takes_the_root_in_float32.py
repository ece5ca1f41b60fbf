"""Takes the root of the head size in float32, which costs a float64 input half its digits.

Exercise: scaled_dot_product_attention
Believes: a scale is needed as a tensor, and float32 is exact enough.
Shows: float64 results that are right to seven digits only, unless d is a square number.
Hint: Python's own numbers are double precision and mix with tensors of any type.
Rejected by: test_float_types
Costs: 15 %
Belief: float_type_of_the_work
"""


def scaled_dot_product_attention(q, k, v):
    root = torch.sqrt(torch.tensor(q.shape[-1], dtype=torch.float32)).to(q.device)
    weights = softmax(q @ k.transpose(-2, -1) / root)
    return weights @ v, weights
