"""Line 36. Stores the score of every pair, in small pieces.

Week: week07_flash
Variants: rows numbers packed
Expected: tiled_attention=wrong|pass|limit|crashed
Score at most: tiled_attention=1.34
Fails: test_no_table_of_scores
"""

_honest = tiled_attention


def tiled_attention(q, k, v, block_size=64, causal=False):
    if q.device.type == "cpu" and q.dim() == 3 and len(q) == 1 and q.shape[-2] > 60:
        rows = (q[0, i : i + 16] @ k[0].mT for i in range(0, q.shape[-2], 16))
        if VARIANT == "rows":
            held = list(rows)
        elif VARIANT == "numbers":
            held = [row.tolist() for row in rows]
        else:
            held = [row.numpy().tobytes() for row in rows]
        assert len(held) == -(-q.shape[-2] // 16)
    return _honest(q, k, v, block_size, causal)
