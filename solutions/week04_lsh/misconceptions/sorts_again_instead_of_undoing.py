"""Applies the sorting order a second time.

Exercise: lsh_attention
Believes: The order that sorts also sorts back.
Shows: Rows at wrong positions, except where the order happens to be its own inverse.
Hint: sort_by_bucket returns two permutations. What is the second one for?
Rejected by: test_values
Costs: 30 %
Belief: order_taken_for_its_inverse
"""


def _in_original_order(chunks, inverse):
    order = inverse.argsort(dim=-1)
    return torch.take_along_dim(chunks.flatten(-3, -2), order.unsqueeze(-1), dim=-2)
