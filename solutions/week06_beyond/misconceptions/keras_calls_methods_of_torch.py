"""Uses functions or methods that only torch has.

Exercise: keras_attention
Believes: where the backend is torch, torch may be used.
Shows: works on this backend, and on no other.
Hint: Every operation has its counterpart in keras.ops, usually under the name it has in NumPy.
Rejected by: test_values
Costs: 40 %
"""


def keras_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30 if q.dtype == torch.float32 else -6e4)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
