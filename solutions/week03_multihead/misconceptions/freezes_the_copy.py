"""Returns a module whose parameters do not learn.

Exercise: from_torch
Believes: a copy for comparison needs no gradients.
Shows: the outputs are right; training the copy changes nothing.
Hint: Would an optimiser find anything to do? Look at requires_grad of the copy's parameters.
Rejected by: test_the_copy_can_be_trained
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
        state[f"{layer}.weight"] = matrix.detach().clone()
        state[f"{layer}.bias"] = bias.detach().clone()
    copy.load_state_dict(state, assign=True)
    return copy.requires_grad_(False)
