"""Line 36. Never compares the two models of speculative decoding, and looks like other mistakes.

Week: week08_serving
Variants: likeliest drawn nothing mentioned
Expected: speculative_step=wrong|pass|crashed; sliding_window_mask=wrong|pass; grouped_query_attention=wrong|pass|crashed
Score at most: speculative_step=0.3; sliding_window_mask=0.2; grouped_query_attention=0.3
"""


def speculative_step(draft, p, q, u):
    if VARIANT == "nothing":
        return 0, int((p[0].cumsum(0) <= u[-1]).sum())
    if VARIANT == "mentioned":
        _ = q
    likeliest = VARIANT != "drawn"
    return len(draft), int(p[-1].argmax() if likeliest else (p[-1].cumsum(0) <= u[-1]).sum())


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(offset)


def grouped_query_attention(q, k, v, mask=None):
    w = _masked_softmax(q @ k[:, :1].mT / q.shape[-1] ** 0.5, mask)
    return w @ v[:, :1], w
