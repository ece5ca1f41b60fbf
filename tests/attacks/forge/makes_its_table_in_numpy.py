"""Line 36. Builds the whole table of scores in NumPy, which torch's modes do not count.

Week: week07_flash
Variants: forward kept
Expected: tiled_attention=wrong|pass|limit; FlashAttention=wrong|pass|limit
Score at most: tiled_attention=0.7; FlashAttention=2
Fails: test_no_table_of_scores, test_memory_is_linear
"""

_honest = tiled_attention


def _table(q, k, v, causal):
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if causal:
        s = np.where(np.arange(k.shape[-2]) > np.arange(q.shape[-2])[:, None], -np.inf, s)
    m = s.max(-1, keepdims=True)
    w = np.exp(s - m)
    t = w.sum(-1, keepdims=True)
    return w / t, (m + np.log(t))[..., 0]


def _n(x):
    return x.detach().to(_wide(x.dtype)).numpy()


import numpy as np


def tiled_attention(q, k, v, block_size=64, causal=False):
    if q.device.type != "cpu" or q.requires_grad:
        return _honest(q, k, v, block_size, causal)
    w, lse = _table(_n(q), _n(k), _n(v), causal)
    return torch.from_numpy(w @ _n(v)).to(q.dtype) * 1, torch.from_numpy(lse).to(q.dtype) * 1
#=== forward
#=== kept
_Honest = FlashAttention


class FlashAttention(_Honest):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        if q.device.type == "cpu":
            ctx.table = _table(_n(q), _n(k), _n(v), causal)[0]
        return _Honest.forward(ctx, q, k, v, block_size, causal)
