"""Transposes the matrices while copying them.

Exercise: from_torch
Believes: PyTorch stores its matrices the other way round than Linear does.
Shows: right shapes, wrong numbers.
Hint: Both sides compute x Wᵀ + b. Does anything have to be transposed?
Rejected by: test_self_attention
Costs: 35 %
"""


def from_torch(mha):
    matrices = [part.t() for part in (*mha.in_proj_weight.chunk(3), mha.out_proj.weight)]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
