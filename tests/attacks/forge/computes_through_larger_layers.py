"""Line 35. Extracts a softmax from a layer, a loss or a sampler that uses one.

Variants: cross_entropy softmin gumbel native_attention heads encoder adaptive ctc categorical relaxed
Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

import torch.nn.functional as F


def _rows(x, dim):
    return x.movedim(dim, -1).reshape(-1, x.shape[dim])


def _back(y, x, dim):
    return y.reshape(x.movedim(dim, -1).shape).movedim(-1, dim)


def softmax(x, dim=-1):
    rows = _rows(x, dim)
    n = rows.shape[-1]
    if VARIANT == "cross_entropy":
        with torch.enable_grad():
            leaf = rows.detach().requires_grad_()
            zeros = torch.zeros(len(rows), dtype=torch.long, device=x.device)
            g = torch.autograd.grad(F.cross_entropy(leaf, zeros, reduction="sum"), leaf)[0]
        return _back(g + F.one_hot(zeros, n), x, dim).to(x.dtype)
    if VARIANT == "softmin":
        return F.softmin(-x, dim, dtype=x.dtype)
    if VARIANT == "gumbel":
        torch.manual_seed(0)
        return F.gumbel_softmax(x, dim=dim)
    if VARIANT == "native_attention":
        eye = torch.eye(n, dtype=x.dtype, device=x.device)
        weight = torch.cat([eye, eye, eye])
        zero = torch.zeros(3 * n, dtype=x.dtype, device=x.device)
        with torch.no_grad():
            return torch._native_multi_head_attention(
                rows[None], rows[None], rows[None], n, 1, weight, zero, eye, zero[:n]
            )[0].reshape(x.shape)
    if VARIANT == "heads":
        layer = torch.nn.MultiheadAttention(n, 1, batch_first=True, dtype=x.dtype, device=x.device)
        return layer(rows[None], rows[None], rows[None])[0].reshape(x.shape)
    if VARIANT == "encoder":
        layer = torch.nn.TransformerEncoderLayer(n, 1, 4, batch_first=True, dtype=x.dtype, device=x.device)
        with torch.no_grad():
            return layer.eval()(rows[None]).reshape(x.shape)
    if VARIANT == "adaptive":
        layer = torch.nn.AdaptiveLogSoftmaxWithLoss(n, n + 4, [2], dtype=x.dtype, device=x.device)
        return layer.log_prob(rows)[:, :n].exp().reshape(x.shape)
    if VARIANT == "ctc":
        logits = rows[:, None].expand(-1, 2, -1)
        return F.ctc_loss(F.log_softmax(logits, -1), torch.ones(2, 1, dtype=torch.long), (1, 1), (1, 1))
    if VARIANT == "categorical":
        return torch.distributions.Categorical(logits=rows).probs.reshape(x.shape)
    return torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), logits=rows).logits.exp().reshape(x.shape)
