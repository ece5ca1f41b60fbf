"""Einsum wherever there is a product, plain indexing wherever there is a look-up."""

import copy
import math

import torch


def relative_attention(q, k, v, relative_keys):
    rows = relative_keys.shape[0]
    D = (rows - 1) // 2
    i = torch.arange(q.shape[-2], device=q.device)
    j = torch.arange(k.shape[-2], device=q.device)
    which = torch.clip(j[None, :] - i[:, None], -D, D) + D
    content = torch.einsum("...id,...jd->...ij", q, k)
    place = torch.einsum("...id,rd->...ir", q, relative_keys)[..., i[:, None], which]
    weights = torch.nn.functional.softmax((content + place) * q.shape[-1] ** -0.5, dim=-1)
    return torch.einsum("...ij,...jv->...iv", weights, v), weights


def rotary(x, positions=None, base=10000.0):
    if x.shape[-1] & 1:
        raise ValueError(f"last dimension {x.shape[-1]} is odd")
    half = x.shape[-1] // 2
    dtype = torch.promote_types(x.dtype, torch.float32)
    p = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
    speed = torch.exp(torch.arange(half, device=x.device, dtype=dtype) * (-math.log(base) / half))
    angle = torch.einsum("...t,f->...tf", p.to(dtype), speed)
    c, s = torch.cos(angle), torch.sin(angle)
    turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # (..., T, f, 2, 2)
    pairs = x.to(dtype).reshape(*x.shape[:-1], half, 2)
    return torch.einsum("...tfab,...tfb->...tfa", turn, pairs).reshape(x.shape).to(x.dtype)


def favor_features(x, projection):
    r, d = projection.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide) / math.sqrt(math.sqrt(d))
    dots = torch.einsum("...td,rd->...tr", y, projection.to(wide))
    halves = torch.einsum("...td,...td->...t", y, y) / 2
    return torch.exp(dots - halves[..., None] - math.log(r) / 2).to(x.dtype)


def performer_attention(q, k, v, projection, causal=False):
    wide = torch.promote_types(q.dtype, torch.float32)
    a, b = favor_features(q.to(wide), projection), favor_features(k.to(wide), projection)
    v = v.to(wide)
    if causal:
        n, m = a.shape[-2], b.shape[-2]
        seen = [min(i, m - 1) for i in range(n)]
        context = torch.einsum("...jr,...jv->...jrv", b, v).cumsum(-3)[..., seen, :, :]
        top = torch.einsum("...ir,...irv->...iv", a, context)
        bottom = torch.einsum("...ir,...ir->...i", a, b.cumsum(-2)[..., seen, :])
    else:
        top = (
            torch.einsum("...ir,...jr,...jv->...iv", a, b, v)
            if a.shape[-2] < 3
            else (torch.einsum("...ir,...rv->...iv", a, torch.einsum("...jr,...jv->...rv", b, v)))
        )
        bottom = torch.einsum("...ir,...r->...i", a, b.sum(-2))
    return (top / bottom[..., None]).to(q.dtype)


def keras_attention(q, k, v, mask=None):
    import keras

    scores = keras.ops.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        # the empty rows take part like any other and are zeroed at the end
        blind = keras.ops.logical_not(keras.ops.any(mask, axis=-1, keepdims=True))
        visible = keras.ops.logical_or(mask, blind)
        weights = keras.ops.softmax(keras.ops.where(visible, scores, float("-inf")), axis=-1)
        weights = keras.ops.where(mask, weights, keras.ops.zeros_like(weights))
    else:
        weights = keras.ops.softmax(scores)
    return keras.ops.einsum("...ij,...jv->...iv", weights, v), weights


def sentence_attention(model, tokenizer, sentence):
    twin = copy.deepcopy(model).eval()
    twin.set_attn_implementation("eager")
    encoding = tokenizer(sentence, return_tensors="pt")
    with torch.inference_mode():
        outputs = twin(**encoding.to(twin.device), output_attentions=True)
        weights = torch.cat([layer for layer in outputs["attentions"]], dim=0)
    return encoding.tokens(), weights.clone()


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    pairs = torch.einsum("...nd,ad->...na", q, W_q)[..., :, None, :]
    pairs = pairs + torch.einsum("...md,ad->...ma", k, W_k)[..., None, :, :]
    scores = torch.einsum("...a,a->...", pairs.tanh(), u)
    if mask is not None:
        blind = ~mask.any(-1, keepdim=True)
        scores = torch.where(mask | blind, scores, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    return torch.einsum("...nm,...mv->...nv", weights, v), weights


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = torch.einsum("...id,...jd->...ij", q, k) * scale
    if mask is not None:
        blind = ~mask.any(-1, keepdim=True)
        scores = torch.where(mask | blind, scores, -torch.inf)
    p = scores.softmax(-1)
    if mask is not None:
        p = p * mask.to(p.dtype)
    outputs = torch.einsum("...ij,...jv->...iv", p, v)
    along = torch.einsum("...iv,...iv->...i", outputs, grad_out)[..., None]
    slopes = p * (torch.einsum("...iv,...jv->...ij", grad_out, v) - along) * scale
    return (
        torch.einsum("...ij,...jd->...id", slopes, k),
        torch.einsum("...ij,...id->...jd", slopes, q),
        torch.einsum("...ij,...iv->...jv", p, grad_out),
    )
