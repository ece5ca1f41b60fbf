"""Takes every third row of the stack for the queries, and so on.

Exercise: from_torch
Believes: the three projections are interleaved row by row.
Shows: each copied layer mixes rows of all three.
Hint: in_proj_weight is three matrices on top of each other. Which rows belong to the first?
Rejected by: test_self_attention
Costs: 40 %
"""


def from_torch(mha):
    matrices = [*(mha.in_proj_weight[part::3] for part in range(3)), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*(mha.in_proj_bias[part::3] for part in range(3)), mha.out_proj.bias]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
