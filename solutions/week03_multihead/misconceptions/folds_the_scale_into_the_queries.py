"""Puts 1/√d into the copied weights, so that the scores are scaled twice.

Exercise: from_torch
Believes: PyTorch's module leaves the scaling to its weights.
Shows: every head's weights are too flat.
Hint: Both modules divide the scores by √d themselves. What happens if the copied weights do so too?
Rejected by: test_self_attention
Costs: 35 %
"""


def from_torch(mha):
    w_q, w_k, w_v = mha.in_proj_weight.chunk(3)
    matrices = [w_q / math.sqrt(mha.head_dim), w_k, w_v, mha.out_proj.weight]
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
