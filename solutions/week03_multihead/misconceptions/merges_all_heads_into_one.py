"""Builds a module with a single head.

Exercise: from_torch
Believes: the number of heads does not matter for the parameters, so it does not matter.
Shows: one weight matrix per sequence.
Hint: The parameters do not determine the number of heads. Where else could you find it?
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
        copy = MultiHeadAttention(mha.embed_dim, 1)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
