"""Treats the length of a key as a constant in the gradient.

Exercise: lsh_attention
Believes: Normalising is a preparation that training need not know of.
Shows: Right values, wrong gradient of qk.
Hint: The length depends on the same qk. Where does your code cut the graph?
Rejected by: test_gradients
Costs: 20 %
"""


def _unit_length(x):
    length = torch.linalg.vector_norm(x.detach(), dim=-1, keepdim=True)
    return x / length.masked_fill(length == 0, 1.0)
