"""Writes into the given state, with an operator such as `+=`.

Exercise: linear_attention_step
Believes: `state += x` makes a new tensor.
Shows: The outputs are correct, but the state that was passed has changed; with gradients, `+=` raises an error.
Hint: Which tensor does an operator such as `+=` write to? Call it twice with the same state.
Rejected by: test_next_token
Costs: 25 %
"""


def linear_attention_step(state, q, k, v):
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (feature_map(q.to(wide)), feature_map(k.to(wide)))
    products, keys = (key.unsqueeze(-1) * v.to(wide).unsqueeze(-2), key)
    if state is not None:
        given, sums = state
        given += products
        sums += keys
        products, keys = given, sums
    read = (query.unsqueeze(-2) @ products).squeeze(-2)
    output = read / (query * keys).sum(dim=-1, keepdim=True)
    return (output.to(v.dtype), (products, keys))
