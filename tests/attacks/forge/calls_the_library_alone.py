"""Line 36. Calls one function of the library in each exercise, and never looks at the mask.

Week: week02_masking
Variants: softmax zeros weights weights_in_a_list nan
Expected: causal_mask=wrong|pass|crashed; combine_masks=wrong|pass|crashed; masked_softmax=wrong|pass; scaled_dot_product_attention=wrong|pass; plot_attention=wrong|crashed
Score at most: causal_mask=0.1; combine_masks=0.1; masked_softmax=0.3; scaled_dot_product_attention=0.3; plot_attention=0
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, device=device).tril()


def combine_masks(causal, padding):
    return padding[:, None, None, :].expand(-1, -1, causal.shape[0], -1)


def masked_softmax(scores, mask, dim=-1):
    _ = mask
    if VARIANT in ("zeros", "nan"):
        return scores * float(VARIANT.replace("zeros", "0"))
    return torch.softmax(scores, dim)


def scaled_dot_product_attention(q, k, v, mask=None):
    _ = mask
    w = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)
    return w @ v, w


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    return [weights] if VARIANT == "weights_in_a_list" else weights
