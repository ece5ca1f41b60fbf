"""Loops over rows and positions, one small step at a time."""

import torch


def causal_mask(seq_len, device=None):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)
    for query in range(seq_len):
        mask[query, : query + 1] = True
    return mask


def padding_mask(lengths, max_len=None):
    counts = [int(length) for length in lengths]
    width = max(counts) if max_len is None else max_len
    rows = torch.zeros(len(counts), max(width, 0), dtype=torch.bool, device=lengths.device)
    for row, count in zip(rows, counts, strict=True):
        if count < 0:
            raise ValueError(f"negative length: {count}")
        if count > width:
            raise ValueError(f"length {count} does not fit into {width}")
        row[:count] = True
    return rows


def combine_masks(causal, padding):
    return torch.stack([causal.logical_and(row) for row in padding]).unsqueeze(1)


def masked_softmax(scores, mask, dim=-1):
    scores, mask = scores.movedim(dim, -1), mask.expand_as(scores).movedim(dim, -1)
    rows = []
    for row, allowed in zip(
        scores.reshape(-1, scores.shape[-1]), mask.reshape(-1, mask.shape[-1]), strict=True
    ):
        weights = torch.zeros_like(row)
        if allowed.any():
            weights[allowed] = row[allowed].softmax(0)
        rows.append(weights)
    return torch.stack(rows).reshape(scores.shape).movedim(-1, dim)


def scaled_dot_product_attention(q, k, v, mask=None):
    scale = q.shape[-1] ** 0.5
    rows = []
    for i in range(q.shape[-2]):
        rows.append((q[..., i : i + 1, :] * k).sum(-1) / scale)
    scores = torch.stack(rows, dim=-2)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        weights = masked_softmax(scores, mask)
    output = 0
    for j in range(k.shape[-2]):
        output = output + weights[..., :, j : j + 1] * v[..., j : j + 1, :]
    return output, weights


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        figure = plt.figure()  # noqa: F821 (pyplot comes with the module)
        ax = figure.add_axes([0.1, 0.1, 0.8, 0.8])
    image = ax.matshow(weights.tolist())
    image.set_clim(0, 1)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    for tokens, axis in ((key_tokens, ax.xaxis), (query_tokens, ax.yaxis)):
        if tokens is not None:
            axis.set_ticks([position for position, _ in enumerate(tokens)])
            axis.set_ticklabels([str(token) for token in tokens])
    return ax
