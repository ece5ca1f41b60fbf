"""Gives a module without biases zeros of the default type.

Exercise: from_torch
Believes: zeros are zeros.
Shows: a copy in half or double precision whose biases are float32, and an error when it is called.
Hint: Which dtype has torch.zeros(C)? Which should these biases have?
Rejected by: test_every_dtype
Costs: 15 %
"""

def from_torch(mha):
    names = ("W_q", "W_k", "W_v", "W_o")
    matrices = [*mha.in_proj_weight.chunk(3), mha.out_proj.weight]
    if mha.in_proj_bias is None:
        biases = [torch.zeros(mha.embed_dim, device=matrix.device) for matrix in matrices]
    else:
        biases = [*mha.in_proj_bias.chunk(3), mha.out_proj.bias]
    with torch.device("meta"):
        copy = MultiHeadAttention(mha.embed_dim, mha.num_heads)
    for name, matrix, bias in zip(names, matrices, biases, strict=True):
        getattr(copy, name).weight = nn.Parameter(matrix.detach().clone())
        getattr(copy, name).bias = nn.Parameter(bias.detach().clone())
    return copy
