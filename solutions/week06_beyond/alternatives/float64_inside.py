"""A decorator carries everything to float64 and back; searching replaces sorting."""

import functools
import math

import torch


def in_double(function):
    """Tensors of floats go in as float64, results come out in the dtype of the first."""

    @functools.wraps(function)
    def wrapped(x, *rest, **named):
        wide = [t.double() if torch.is_tensor(t) and t.is_floating_point() else t for t in rest]
        result = function(x.double(), *wide, **named)
        if isinstance(result, tuple):
            return tuple(part.to(x.dtype) for part in result)
        return result.to(x.dtype)

    return wrapped


def _search(z, power, dim):
    """The threshold up to 60 bits by halving, then the support."""
    with torch.no_grad():
        high = z.amax(dim, keepdim=True)
        low = high - 1
        for _ in range(60):
            middle = (low + high) / 2
            enough = (z - middle).relu().pow(power).sum(dim, keepdim=True) >= 1
            low, high = torch.where(enough, middle, low), torch.where(enough, high, middle)
        return z > high


@in_double
def sparsemax(x, dim=-1):
    support = _search(x, 1, dim)
    count = support.sum(dim, keepdim=True)
    tau = (torch.where(support, x, 0.0).sum(dim, keepdim=True) - 1) / count
    return torch.where(support, x - tau, 0.0)


@in_double
def entmax15(x, dim=-1):
    z = torch.where(torch.isneginf(x), -1e9, x) / 2
    support = _search(z, 2, dim)
    count = support.sum(dim, keepdim=True)
    mean = torch.where(support, z, 0.0).sum(dim, keepdim=True) / count
    squares = torch.where(support, z - mean, 0.0).square().sum(dim, keepdim=True)
    tau = mean - torch.sqrt((1 - squares) / count)
    return torch.where(support, z - tau, 0.0).square()


@in_double
def relative_attention(q, k, v, relative_keys):
    n, m, D = q.size(-2), k.size(-2), relative_keys.size(0) // 2
    distances = torch.arange(1 - n, m, device=q.device).clamp(-D, D) + D
    every = q @ relative_keys[distances].mT  # a column for each of the n + m - 1 distances
    place = torch.stack([every[..., i, n - 1 - i :][..., :m] for i in range(n)], dim=-2)
    scores = torch.matmul(q, k.mT) + place
    weights = torch.exp(torch.log_softmax(scores / math.sqrt(q.size(-1)), dim=-1))
    return weights @ v, weights


@in_double
def rotary(x, positions=None, base=10000.0):
    T, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"cannot pair {d} entries")
    where = torch.arange(T, device=x.device) if positions is None else positions
    inverse = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], device=x.device)
    angle = (where[..., None] * inverse.double()).repeat_interleave(2, dim=-1)
    neighbour = x.unflatten(-1, (-1, 2)).flip(-1) * torch.tensor([-1.0, 1.0], device=x.device)
    return x * angle.cos() + neighbour.flatten(-2) * angle.sin()


@in_double
def favor_features(x, projection):
    x = x / x.shape[-1] ** 0.25
    logs = torch.nn.functional.linear(x, projection) - x.norm(dim=-1, keepdim=True) ** 2 / 2
    return torch.exp(logs) / math.sqrt(projection.shape[0])


@in_double
def performer_attention(q, k, v, projection, causal=False):
    phi = functools.partial(favor_features.__wrapped__, projection=projection)
    queries, keys = phi(q), phi(k)
    if causal:
        m, n = k.shape[-2], q.shape[-2]
        index = torch.minimum(
            torch.arange(n, device=q.device), torch.full((n,), m - 1, device=q.device)
        )
        bare = torch.cumsum(keys, -2).index_select(-2, index)
        weight = torch.sum(queries * bare, -1, keepdim=True)
        columns = [  # one value column at a time
            (queries * torch.cumsum(keys * v[..., c : c + 1], -2).index_select(-2, index)).sum(-1)
            for c in range(v.shape[-1])
        ]
        return torch.stack(columns, -1) / weight
    return queries @ torch.matmul(keys.mT, v) / torch.matmul(queries, keys.sum(-2)[..., None])


def keras_attention(q, k, v, mask=None):
    import keras
    import keras.ops as K

    dtype = keras.backend.standardize_dtype(q.dtype)
    a, b, c = (K.cast(t, "float32") for t in (q, k, v))
    scores = K.sum(K.expand_dims(a, -2) * K.expand_dims(b, -3), axis=-1) / K.sqrt(
        K.cast(q.shape[-1], "float32")
    )
    if mask is None:
        weights = K.softmax(scores, axis=-1)
    else:
        soft = K.softmax(K.where(mask, scores, -1e30), axis=-1)
        weights = soft * K.cast(mask, "float32")
    return K.cast(weights @ c, dtype), K.cast(weights, dtype)


def sentence_attention(model, tokenizer, sentence):
    """By way of the config, without the model's own switch."""
    config, remembered = model.config, dict(vars(model.config))
    trained = [part for part in model.modules() if part.training]
    inputs = {
        name: t.to(model.device) for name, t in tokenizer([sentence], return_tensors="pt").items()
    }
    model.eval()
    config._attn_implementation = "eager"
    config.output_attentions = True
    try:
        attentions = model(**inputs).attentions
    finally:
        config.output_attentions = remembered.get("_output_attentions", False)
        config._attn_implementation = remembered["_attn_implementation_internal"]
        for part in trained:
            part.training = True
    names = tokenizer.convert_ids_to_tokens(tokenizer(sentence).input_ids)
    return names, torch.concatenate(attentions).detach()


@in_double
def attention_backward(q, k, v, grad_out, mask=None):
    """The difference of every pair of keys, each pair weighted by the product of its weights."""
    q = q / math.sqrt(q.shape[-1])
    scores = q @ k.mT
    scores = scores if mask is None else scores.masked_fill(~mask, -1e30)
    p = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    p = p if mask is None else p.double() * mask.any(-1, keepdim=True) * mask
    got = grad_out @ v.mT
    pairs = got.unsqueeze(-1) - got.unsqueeze(-2)
    slopes = (p.unsqueeze(-1) * p.unsqueeze(-2) * pairs).sum(-1)
    back = torch.matmul(slopes, k) / math.sqrt(q.shape[-1])
    return back, torch.matmul(slopes.mT, q), torch.matmul(p.mT, grad_out)
