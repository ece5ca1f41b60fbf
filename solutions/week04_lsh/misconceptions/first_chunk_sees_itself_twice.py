"""Gives the first chunk itself as the chunk before it.

Exercise: lsh_attention
Believes: Repeating the first chunk fills the gap and changes nothing.
Shows: A single round looks right; with several, rounds in which a position fell into the first
    chunk weigh double.
Hint: Counting every key twice does not change the softmax. What does it do to the logsumexp?
Rejected by: test_rounds_count_by_what_they_found
Costs: 20 %
"""


def _look_back(chunks, nothing=0):
    before = torch.cat([chunks[..., :1, :, :], chunks[..., :-1, :, :]], dim=-3)
    return torch.cat([before, chunks], dim=-2)
