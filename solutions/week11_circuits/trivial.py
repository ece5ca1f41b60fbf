"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def repeated_tokens__random(batch, period, vocab_size, repeats=2, generator=None):
    return torch.randint(vocab_size, (batch, repeats * period), generator=generator)


def previous_token_score__mean(weights):
    return weights.mean(dim=(0, 2, 3))


def induction_score__mean(weights, ids):
    return weights.mean(dim=(0, 2, 3))


def logit_attribution__sums(terms, unembed, targets, others=None):
    return terms.sum(dim=-1)


def qk_circuit__products(queries, keys, W_Q, W_K):
    return (queries @ keys.mT).expand(*W_Q.shape[:-2], -1, -1).clone()


def ov_circuit__products(embed, W_V, W_O, unembed):
    return (embed @ unembed.mT).expand(*W_V.shape[:-2], -1, -1).clone()


def copying_score__ones(embed, W_V, W_O, unembed):
    return torch.ones(W_V.shape[:-2], dtype=W_V.dtype, device=W_V.device)


def ablate_heads__plain(model, ids, heads, reference=None):
    return model(ids)


def patch_heads__zeros(model, clean, corrupted, measure):
    return torch.zeros(model.n_layers, model.n_heads, device=clean.device)
