"""Draws random initial weights and leaves the random state changed.

Exercise: from_torch
Believes: weights that are overwritten at once leave no trace.
Shows: later random draws give different numbers.
Hint: Print torch.get_rng_state().sum() before and after. Who drew the numbers?
Rejected by: test_leaves_no_trace
Costs: 20 %
"""


def from_torch(mha):
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [matrix.new_zeros(mha.embed_dim) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    copy = MultiHeadAttention(mha.embed_dim, mha.num_heads).to(matrices[0])
    layers = ("W_q", "W_k", "W_v", "W_o")
    state = {}
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy
