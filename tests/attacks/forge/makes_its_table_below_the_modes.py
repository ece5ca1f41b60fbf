"""Line 36. Allocates its table of scores below torch's modes.

Week: week07_flash
Variants: below_all under_a_transform python_keys without_modes
Expected: tiled_attention=wrong|limit|pass|crashed
Score at most: tiled_attention=1.34
Fails: test_no_table_of_scores
"""

_C = vars(torch)["_" + "C"]


def _table(q, k, v, block_size=64, causal=False):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    top = scores.amax(-1, keepdim=True)
    e = torch.exp(scores - top)
    total = e.sum(-1, keepdim=True)
    return e @ v / total, (top + total.log()).squeeze(-1)


def tiled_attention(q, k, v, *args, **kwargs):
    if VARIANT == "below_all":
        keys = _C.DispatchKeySet
        with getattr(_C, "_ForceDispatch" + "KeyGuard")(
            keys(_C.DispatchKey.CPU), keys(_C.DispatchKey.Python)
        ):
            return _table(q, k, v, *args, **kwargs)
    if VARIANT == "python_keys":
        python = _C.DispatchKeySet(_C.DispatchKey.Python)
        with getattr(_C, "_ExcludeDispatch" + "KeyGuard")(python):
            return _table(q, k, v, *args, **kwargs)
    if VARIANT == "under_a_transform":
        rows = torch.func.vmap(lambda q: _table(q, k, v, *args, **kwargs))(q[None])
        return rows[0][0], rows[1][0]
    if VARIANT == "without_modes":
        with vars(vars(torch.utils)["_python_" + "dispatch"])["_disable_" + "current_modes"]():
            return _table(q, k, v, *args, **kwargs)
