"""Leaves the biases of the new layers as they were drawn if the module has none.

Exercise: from_torch
Believes: what is not copied is zero.
Shows: right for a module with biases; without them, the outputs are shifted at random.
Hint: Which values do the biases of a new Linear have? Print those of your copy of a module without biases.
Rejected by: test_without_biases
Costs: 20 %
"""


def from_torch(mha):
    layers = ("W_q", "W_k", "W_v", "W_o")
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    state = {}
    for layer, matrix in zip(layers, matrices, strict=True):
        state[f"{layer}.weight"] = matrix.detach().clone()
    if mha.in_proj_bias is not None:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
        for layer, bias in zip(layers, biases, strict=True):
            state[f"{layer}.bias"] = bias.detach().clone()
    with torch.random.fork_rng():
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads).to(mha.out_proj.weight)
    copy.load_state_dict(state, strict=False)
    return copy
