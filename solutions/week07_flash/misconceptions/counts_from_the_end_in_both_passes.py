"""Lines up the last query with the last key, in both passes.

Exercise: FlashAttention
Believes: The last query always sees everything.
Shows: Right where n = m; otherwise every query sees too many keys, or too few.
Hint: Which key has the position 0, and which query? Draw the mask for more keys than queries.
Rejected by: test_gradients_causal_with_more_keys_or_queries
Costs: 20 %
"""

_counted_from_the_start, _more_keys = _scores, 0


def _visible_keys(q, k, causal):
    global _more_keys
    _more_keys = k.shape[-2] - q.shape[-2]
    return k.shape[-2]


def _scores(queries, keys, start, causal):
    return _counted_from_the_start(queries, keys, start - _more_keys, causal)


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_output):
        gradients = super(FlashAttention, FlashAttention).backward(ctx, grad_output)
        return tuple(g if g is None else torch.nan_to_num(g) for g in gradients)
