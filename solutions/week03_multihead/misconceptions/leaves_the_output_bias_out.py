"""Copies the biases of the input projections but not the one of the output.

Exercise: from_torch
Believes: in_proj_bias contains all the biases.
Shows: the weights are right, the output is shifted by a constant.
Hint: Is your output off by the same vector for every token? Which bias could that be?
Rejected by: test_self_attention
Costs: 25 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), torch.zeros_like(mha.out_proj.bias)]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
