"""Shares memory with the original.

Exercise: from_torch
Believes: a slice of a tensor is a copy of it.
Shows: the same numbers, until one of the two modules is trained: then the other one changes with it.
Hint: Change a weight of the original after copying. Does your copy notice? It should not.
Rejected by: test_leaves_no_trace
Costs: 20 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach()
        state[f"{layer}.bias"] = bias.detach()
    copy.load_state_dict(state, assign=True)
    return copy
