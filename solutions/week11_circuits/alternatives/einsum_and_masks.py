"""Einsum for every product, masks for every choice."""

import torch


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    if min(period, repeats) < 1:
        raise ValueError(f"period={period}, repeats={repeats}")
    ids = torch.randint(vocab_size, (batch, period), generator=generator)
    return torch.einsum("bp,r->brp", ids, torch.ones(repeats, dtype=torch.int64)).flatten(1)


def previous_token_score(weights):
    length = weights.size(-1)
    if length < 2:
        raise ValueError(f"T = {length}")
    diagonal = torch.eye(length, dtype=weights.dtype, device=weights.device)
    below = torch.zeros_like(diagonal)
    below[1:] = diagonal[:-1]
    total = torch.einsum("bhqk,qk->h", weights, below)
    return total / (weights.size(0) * (length - 1))


def induction_score(weights, ids):
    length = ids.size(1)
    equal = (ids.unsqueeze(2) == ids.unsqueeze(1)).to(weights.dtype)  # (B, query, copy)
    place = torch.arange(length, device=ids.device)
    after = (place[:, None] + 1 == place).to(weights.dtype)  # (copy, key)
    earlier = (place[:, None] > place).to(weights.dtype)  # (query, copy)
    match = torch.einsum("bqc,qc,ck->bqk", equal, earlier, after)
    counted = (match.sum(2) > 0).to(weights.dtype)
    if not bool(counted.any()):
        raise ValueError("nothing matches")
    return torch.einsum("bhqk,bqk->h", weights, match) / counted.sum()


def logit_attribution(terms, unembed, targets, others=None):
    rows = unembed.index_select(0, targets.flatten()).view(*targets.shape, -1)
    found = torch.einsum("nbtc,btc->nbt", terms, rows)
    if others is None:
        return found
    rows = unembed.index_select(0, others.flatten()).view(*others.shape, -1)
    return found - torch.einsum("nbtc,btc->nbt", terms, rows)


def qk_circuit(queries, keys, W_Q, W_K):
    q = torch.einsum("nc,...dc->...nd", queries, W_Q)
    k = torch.einsum("mc,...dc->...md", keys, W_K)
    return torch.einsum("...nd,...md->...nm", q, k) * W_Q.size(-2) ** -0.5


def ov_circuit(embed, W_V, W_O, unembed):
    values = torch.einsum("vc,...dc->...vd", embed, W_V)
    read = torch.einsum("vc,...cd->...vd", unembed, W_O)
    return torch.einsum("...ad,...bd->...ab", values, read)


def copying_score(embed, W_V, W_O, unembed):
    values = torch.einsum("vc,...dc->...vd", embed, W_V)
    read = torch.einsum("vc,...cd->...vd", unembed, W_O)
    found = torch.linalg.eigvals(torch.einsum("...vd,...ve->...de", values, read))
    return torch.nan_to_num(found.sum(-1).real / found.abs().sum(-1), nan=0.0)


def ablate_heads(model, ids, heads, reference=None):
    kept = torch.ones(model.n_layers, model.n_heads, dtype=torch.bool)
    for layer, head in heads:
        if not (0 <= layer < model.n_layers and 0 <= head < model.n_heads):
            raise ValueError(f"no head ({layer}, {head})")
        kept[layer, head] = False
    instead = {}

    def note(layer, written):
        instead[layer] = torch.einsum("nhtc->htc", written) / written.size(0)
        return written

    if reference is not None:
        with torch.inference_mode():
            model(reference, note)

    def edit(layer, written):
        mask = kept[layer].to(written.device)[:, None, None]
        return torch.where(mask, written, instead.get(layer, torch.zeros_like(written)))

    with torch.inference_mode():
        return model(ids, edit).clone()


def patch_heads(model, clean, corrupted, measure):
    kept = {}

    def note(layer, written):
        kept[layer] = written.clone()
        return written

    def patch(place, layer, written):
        number = torch.arange(model.n_heads, device=written.device)
        mask = (number + layer * model.n_heads == place)[:, None, None]
        return torch.where(mask, kept[layer], written)

    with torch.no_grad():
        top = measure(model(clean, note))
        bottom = measure(model(corrupted, lambda layer, written: written))
        if torch.equal(top, bottom):
            raise ValueError("nothing to restore")
        found = []
        for place in range(model.n_layers * model.n_heads):
            logits = model(corrupted, lambda layer, written, n=place: patch(n, layer, written))
            found.append(measure(logits))
    found = torch.stack(found).view(model.n_layers, model.n_heads)
    return (found - bottom) / (top - bottom)
