"""Advanced indexing, gather and index_add, and objects that edit."""

import torch
from torch.nn import functional as F


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if period <= 0:
        raise ValueError(f"a period of {period}")
    if repeats <= 0:
        raise ValueError(f"{repeats} repeats")
    drawn = torch.randint(high=vocab_size, size=(batch, period), generator=generator)
    return drawn[:, torch.arange(repeats * period) % period]


def previous_token_score(weights):
    query = torch.arange(1, weights.shape[2], device=weights.device)
    if not len(query):
        raise ValueError(f"length {weights.shape[2]}")
    return weights[:, :, query, query - 1].mean((0, 2))


def induction_score(weights, ids):
    sequence, query, copy = torch.nonzero(ids[:, :, None] == ids[:, None], as_tuple=True)
    earlier = copy < query
    sequence, query, copy = sequence[earlier], query[earlier], copy[earlier]
    if sequence.numel() == 0:
        raise ValueError("each token occurs once")
    total = weights[sequence, :, query, copy + 1].sum(0)
    matched = torch.unique(torch.stack([sequence, query]), dim=1)
    return total / matched.shape[1]


def logit_attribution(terms, unembed, targets, others=None):
    count, batch, length, width = terms.shape
    direction = F.embedding(targets, unembed)
    if others is not None:
        direction = direction - F.embedding(others, unembed)
    rows = terms.permute(1, 2, 0, 3).reshape(batch * length, count, width)
    found = torch.bmm(rows, direction.view(batch * length, width, 1))
    return found.view(batch, length, count).permute(2, 0, 1)


def qk_circuit(queries, keys, W_Q, W_K):
    return (
        F.linear(keys, W_K.flatten(0, -2))
        .unflatten(-1, W_K.shape[:-1])
        .movedim(0, -2)
        .mul(W_Q.shape[-2] ** -0.5)
        .matmul((queries @ W_Q.mT).mT)
        .mT
    )


def ov_circuit(embed, W_V, W_O, unembed):
    return unembed.matmul(W_O).matmul(W_V.matmul(embed.mT)).mT


def copying_score(embed, W_V, W_O, unembed):
    # the sum of the eigenvalues is the trace
    small = W_V @ embed.mT @ (unembed @ W_O)
    real = small.diagonal(dim1=-2, dim2=-1).sum(-1)
    size = torch.linalg.eigvals(small.mT).abs().sum(-1)
    return real / size.clamp_min(torch.finfo(size.dtype).tiny)


class Recorder:
    def __init__(self):
        self.layers = []

    def __call__(self, layer, written):
        self.layers.append(written.detach())
        return written


class Replacer:
    def __init__(self, replacements):
        self.replacements = replacements  # {(layer, head): (T, C) or (B, T, C)}

    def __call__(self, layer, written):
        chosen = {h: new for (number, h), new in self.replacements.items() if number == layer}
        change = torch.zeros_like(written)
        for h, new in chosen.items():
            change[:, h] = new - written[:, h]
        return written + change


def ablate_heads(model, ids, heads, reference=None):
    heads = set(heads)
    layers, sizes = range(model.n_layers), range(model.n_heads)
    for layer, head in heads:
        if layer not in layers:
            raise ValueError(f"layer {layer}")
        if head not in sizes:
            raise ValueError(f"head {head}")
    if reference is None:
        return model(ids, Replacer(dict.fromkeys(heads, 0.0)))
    recorder = Recorder()
    model(reference, recorder)
    means = {(layer, h): recorder.layers[layer][:, h].mean(0) for layer, h in heads}
    return model(ids, Replacer(means))


def patch_heads(model, clean, corrupted, measure):
    recorder = Recorder()
    best, worst = measure(model(clean, recorder)).detach(), measure(model(corrupted)).detach()
    gap = best - worst
    if gap == 0:
        raise ValueError("no difference")
    found = worst.new_zeros(model.n_layers, model.n_heads)
    for layer, written in enumerate(recorder.layers):
        for head in range(written.shape[1]):
            logits = model(corrupted, Replacer({(layer, head): written[:, head]}))
            found[layer, head] = measure(logits).detach() - worst
    return found / gap
