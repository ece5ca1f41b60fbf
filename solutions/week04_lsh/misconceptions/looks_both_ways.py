"""Looks at the chunk before and at the chunk after as well.

Exercise: lsh_attention
Believes: A neighbour is a neighbour on either side.
Shows: A position in the middle of a long bucket sees three chunks.
Hint: The docstring names two chunks. Which of your three is not among them?
Rejected by: test_looks_back_one_chunk
Costs: 20 %
"""


def _look_back(chunks, nothing=0):
    edge = torch.full_like(chunks[..., :1, :, :], nothing)
    before = torch.cat([edge, chunks[..., :-1, :, :]], dim=-3)
    after = torch.cat([chunks[..., 1:, :, :], edge], dim=-3)
    return torch.cat([before, chunks, after], dim=-2)
