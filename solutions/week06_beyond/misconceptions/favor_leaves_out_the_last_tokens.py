"""Processes the tokens in blocks of 500 and omits the last, incomplete one.

Exercise: favor_features
Believes: long sequences come in whole blocks.
Shows: the last tokens of a long sequence have features of zero.
Hint: How many of 1100 tokens are in your blocks? Which ones are missing?
Rejected by: test_many_tokens
Costs: 20 %
"""


def favor_features(x, projection):
    length = x.shape[-2]
    size = min(500, length)
    blocks = x[..., : length // size * size, :].split(size, dim=-2)
    features = [torch.exp(_exponents(b, projection)) / math.sqrt(len(projection)) for b in blocks]
    missing = features[0].new_zeros(*x.shape[:-2], length % size, len(projection))
    return torch.cat([*features, missing], dim=-2).to(x.dtype)
