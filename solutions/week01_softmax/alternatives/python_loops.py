"""Plain loops over rows, queries and keys: slow, and right."""

import math

import numpy as np
import torch


def softmax_numpy(x, axis=-1):
    weights = np.empty(x.shape, dtype=x.dtype if np.issubdtype(x.dtype, np.floating) else float)
    axis = axis % x.ndim
    others = x.shape[:axis] + x.shape[axis + 1 :]
    for place in np.ndindex(*others):
        row = place[:axis] + (slice(None),) + place[axis:]
        numbers = [float(number) for number in x[row]]
        largest = max(numbers)
        grown = [math.exp(number - largest) for number in numbers]
        total = math.fsum(grown)
        weights[row] = [part / total for part in grown]
    return weights


def _wide(x):
    """Sums of thousands need more digits than a half has."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def softmax(x, dim=-1):
    entries = x.unbind(dim)
    largest = entries[0]
    for entry in entries[1:]:
        largest = torch.maximum(largest, entry)
    grown = [_wide(torch.exp(entry - largest)) for entry in entries]
    total = sum(grown[1:], grown[0])
    return torch.stack([part / total for part in grown], dim).to(x.dtype)


def logsumexp(x, dim=-1, keepdim=False):
    entries = x.unbind(dim)
    largest = entries[0]
    for entry in entries[1:]:
        largest = torch.maximum(largest, entry)
    empty = largest == -math.inf
    largest = largest.masked_fill(empty, 0.0)
    total = _wide(torch.exp(entries[0] - largest))
    for entry in entries[1:]:
        total = total + torch.exp(entry - largest)
    result = (largest + total.log()).to(x.dtype)
    return result.unsqueeze(dim) if keepdim else result


def scaled_dot_product_attention_numpy(q, k, v):
    n, m = q.shape[-2], k.shape[-2]
    leading = q.shape[:-2]
    weights = np.zeros((*leading, n, m), q.dtype)
    output = np.zeros((*leading, n, v.shape[-1]), v.dtype)
    for place in np.ndindex(*leading):
        for i in range(n):
            scores = [np.dot(q[place][i], k[place][j]) / math.sqrt(q.shape[-1]) for j in range(m)]
            weights[(*place, i)] = softmax_numpy(np.array(scores, q.dtype))
            output[(*place, i)] = sum(weights[(*place, i, j)] * v[place][j] for j in range(m))
    return output, weights


def scaled_dot_product_attention(q, k, v):
    if q.dim() > 2:
        pairs = [scaled_dot_product_attention(*three) for three in zip(q, k, v)]
        return tuple(torch.stack(part) for part in zip(*pairs))
    weights = torch.stack([softmax((k * query).sum(-1) / math.sqrt(len(query))) for query in q])
    output = torch.stack([(row.unsqueeze(-1) * v).sum(0) for row in weights])
    return output, weights


def ascii_heatmap(weights, tokens, chars=" ░▒▓█", width=6):
    drawing = ""
    for _ in range(width):
        drawing += " "
    for token in tokens:
        drawing += token.rjust(width)
    largest = max(max(row) for row in weights)
    for i in range(len(tokens)):
        drawing += "\n" + tokens[i].rjust(width)
        for j in range(len(tokens)):
            index = 0
            if largest != 0:
                index = int(weights[i][j] * (len(chars) - 1) / largest)
                if index > len(chars) - 1:
                    index = len(chars) - 1
            drawing += "  " + chars[index] + " " * (width - 3)
    return drawing
