"""Copies into a module of the default dtype.

Exercise: from_torch
Believes: a Linear takes the dtype of the numbers it is given.
Shows: right in float32; other dtypes do not fit the inputs any more.
Hint: Which dtype do the parameters of a new module have, and which one should yours have?
Rejected by: test_every_dtype
Costs: 20 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    with torch.random.fork_rng(devices=[]):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state)
    return copy
