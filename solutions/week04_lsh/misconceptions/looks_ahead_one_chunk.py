"""Looks at the chunk after its own.

Exercise: lsh_attention
Believes: Rolling by -1 brings the chunk before.
Shows: The last chunk sees too little, the first too much.
Hint: Try your shift on the chunk numbers 0, 1, 2, 3 and see which neighbour each one gets.
Rejected by: test_looks_back_one_chunk
Costs: 25 %
"""


def _look_back(chunks, nothing=0):
    last = torch.full_like(chunks[..., :1, :, :], nothing)
    return torch.cat([chunks, torch.cat([chunks[..., 1:, :, :], last], dim=-3)], dim=-2)
