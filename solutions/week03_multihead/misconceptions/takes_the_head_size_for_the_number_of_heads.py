"""Builds as many heads as PyTorch's heads are wide.

Exercise: from_torch
Believes: head_dim is the number of heads.
Shows: right where H equals d; otherwise the weights have the wrong number of heads.
Hint: Compare the shape of the weights with PyTorch's. Which attribute counts the heads?
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
        copy = MultiHeadAttention(mha.embed_dim, mha.head_dim)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
