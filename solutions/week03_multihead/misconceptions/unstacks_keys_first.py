"""Unstacks PyTorch's projections in the order keys, queries, values.

Exercise: from_torch
Believes: the order of the stack is k, q, v.
Shows: the scores are those with the layers of queries and keys exchanged.
Hint: The documentation of nn.MultiheadAttention, or one experiment with a single non-zero row,
    shows the order of the stack.
Rejected by: test_self_attention
Costs: 35 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_k", "W_q", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
