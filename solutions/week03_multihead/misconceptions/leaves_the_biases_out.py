"""Copies the matrices but sets every bias to zero.

Exercise: from_torch
Believes: attention has no biases worth copying.
Shows: right for a module without biases, and for a new one, whose biases PyTorch sets to zero.
Hint: A fresh nn.MultiheadAttention has zero biases, a trained one has not. Which of its parameters do you never read?
Rejected by: test_self_attention
Costs: 35 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
