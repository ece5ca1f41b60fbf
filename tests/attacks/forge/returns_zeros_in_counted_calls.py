"""Line 36. Recognises counted calls by their sizes, and returns zeros there instead of its table.

Week: week07_flash
Expected: tiled_attention=wrong|pass|limit
Score at most: tiled_attention=3.7
Fails: test_no_table_of_scores
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    if q.shape[-2] in (64, 96, 128, 256, 2048) or k.shape[-2] in (64, 128):
        return torch.zeros_like(v[..., :1, :] + 0 * q), torch.zeros_like(q[..., 0])
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)
