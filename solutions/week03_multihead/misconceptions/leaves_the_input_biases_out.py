"""Copies the output bias but sets the biases of the three input projections to zero.

Exercise: from_torch
Believes: only out_proj has a bias.
Shows: the weights are slightly off, and so is everything after them.
Hint: List the names in mha.state_dict(). Which one have you not copied?
Rejected by: test_self_attention
Costs: 30 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    if mha.out_proj.bias is not None:
        biases[3] = mha.out_proj.bias
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
