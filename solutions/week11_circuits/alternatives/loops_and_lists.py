"""Python loops, lists and single entries."""

import math

import torch


def repeated_tokens(batch, period, vocab_size, repeats=2, generator=None):
    for name, value in (("period", period), ("repeats", repeats)):
        if value < 1:
            raise ValueError(f"{name} should be at least 1, not {value}")
    drawn = torch.randint(0, vocab_size, [batch, period], generator=generator).tolist()
    return torch.tensor([row * repeats for row in drawn])


def previous_token_score(weights):
    batch, heads, length, _ = weights.shape
    if length == 1:
        raise ValueError("a sequence of length 1")
    scores = []
    for head in range(heads):
        entries = [weights[b, head, t, t - 1] for b in range(batch) for t in range(1, length)]
        scores.append(sum(entries) / len(entries))
    return torch.stack(scores)


def induction_score(weights, ids):
    heads, length = weights.shape[1:3]
    rows = ids.tolist()
    matched = {}
    for b, row in enumerate(rows):
        for t in range(length):
            keys = [j for j in range(1, t + 1) if row[j - 1] == row[t]]
            if keys:
                matched[b, t] = keys
    if not matched:
        raise ValueError("no matching key")
    scores = []
    for head in range(heads):
        total = sum(weights[b, head, t, keys].sum() for (b, t), keys in matched.items())
        scores.append(total / len(matched))
    return torch.stack(scores)


def logit_attribution(terms, unembed, targets, others=None):
    found = []
    for term in terms:
        logits = torch.linalg.vecdot(term, unembed[targets])
        if others is not None:
            logits = logits - torch.linalg.vecdot(term, unembed[others])
        found.append(logits)
    return torch.stack(found)


def qk_circuit(queries, keys, W_Q, W_K):
    leading, (d, width) = W_Q.shape[:-2], W_Q.shape[-2:]
    circuits = []
    for one_q, one_k in zip(W_Q.reshape(-1, d, width), W_K.reshape(-1, d, width), strict=True):
        q = torch.stack([queries @ row for row in one_q], dim=1) / math.sqrt(d)
        k = torch.stack([keys @ row for row in one_k], dim=1)
        circuits.append(q.mm(k.t()))
    return torch.stack(circuits).reshape(*leading, len(queries), len(keys))


def ov_circuit(embed, W_V, W_O, unembed):
    if W_V.dim() > 2:
        return torch.stack(
            [ov_circuit(embed, v, o, unembed) for v, o in zip(W_V, W_O, strict=True)]
        )
    return (embed @ W_V.T) @ (W_O.T @ unembed.T)


def copying_score(embed, W_V, W_O, unembed):
    if W_V.dim() > 2:
        return torch.stack(
            [copying_score(embed, v, o, unembed) for v, o in zip(W_V, W_O, strict=True)]
        )
    values = torch.linalg.eig((W_V @ embed.T) @ (unembed @ W_O)).eigenvalues
    total = torch.zeros((), dtype=W_V.dtype, device=W_V.device)
    size = torch.zeros((), dtype=W_V.dtype, device=W_V.device)
    for value in values:
        total += value.real
        size += abs(value)
    return total / size if size else total


def ablate_heads(model, ids, heads, reference=None):
    by_layer = [[] for _ in range(model.n_layers)]
    for layer, head in heads:
        if layer < 0 or layer >= model.n_layers or head < 0 or head >= model.n_heads:
            raise ValueError(f"the model has no head {head} in a layer {layer}")
        by_layer[layer].append(head)
    seen = []
    if reference is not None:
        model(reference, lambda layer, written: seen.append(written) or written)

    def edit(layer, written):
        pieces = list(written.unbind(1))
        for head in by_layer[layer]:
            if reference is None:
                pieces[head] = torch.zeros_like(pieces[head])
            else:
                rows = list(seen[layer][:, head])
                pieces[head] = (sum(rows) / len(rows)).expand_as(pieces[head])
        return torch.stack(pieces, dim=1)

    return model(ids, edit)


def patch_heads(model, clean, corrupted, measure):
    seen = []
    right = measure(model(clean, lambda layer, written: seen.append(written) or written))
    wrong = measure(model(corrupted))
    if float(right) == float(wrong):
        raise ValueError("equal measures")
    rows = []
    for layer in range(model.n_layers):
        row = []
        for head in range(model.n_heads):

            def edit(number, written, layer=layer, head=head):
                pieces = list(written.unbind(1))
                if number == layer:
                    pieces[head] = seen[layer][:, head]
                return torch.stack(pieces, dim=1)

            row.append(float((measure(model(corrupted, edit)) - wrong) / (right - wrong)))
        rows.append(row)
    return torch.tensor(rows, dtype=right.dtype, device=right.device)
