"""Line 35. Gets the weights out of losses, samplers, layers and gradients of the library.

Variants: cross_entropy_gradient cumulative_logsumexp gumbel relaxed attention_with_identity attention_layer encoder_layer adaptive connectionist categorical flex onnx scipy_logsumexp scipy_softmax logaddexp2 hypernetwork
Expected: softmax=forbidden|crashed|wrong|timeout|limit
Score at most: softmax=0
"""

import torch.nn.functional as F


def _last(x, dim, f):
    return f(x.movedim(dim, -1)).movedim(-1, dim)


def _identity(x):
    n = x.shape[-1]
    q = x.reshape(1, -1, n) * n**0.5
    eye = torch.eye(n, dtype=x.dtype).unsqueeze(0)
    return q, eye, eye


def _by(x):
    n, flat = x.shape[-1], x.reshape(-1, x.shape[-1])
    if VARIANT == "cross_entropy_gradient":
        leaf = flat.detach().requires_grad_()
        target = torch.zeros(len(flat), dtype=torch.long)
        (g,) = torch.autograd.grad(F.cross_entropy(leaf, target, reduction="sum"), leaf)
        g = g.clone()
        g[:, 0] += 1
        return g.reshape(x.shape)
    if VARIANT == "cumulative_logsumexp":
        return torch.exp(x - torch.logcumsumexp(x, -1)[..., -1:])
    if VARIANT == "gumbel":
        torch.manual_seed(0)
        noise = -torch.empty_like(x).exponential_().log()
        torch.manual_seed(0)
        return F.gumbel_softmax(x - noise, tau=1.0)
    if VARIANT == "relaxed":
        one = torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), logits=x)
        return one.base_dist.logits.exp()
    if VARIANT == "attention_with_identity":
        return F.scaled_dot_product_attention(*_identity(x)).reshape(x.shape)
    if VARIANT == "attention_layer":
        q, k, v = _identity(x)
        eye = torch.eye(n)
        out, weights = F.multi_head_attention_forward(
            q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), n, 1, eye.repeat(3, 1), torch.zeros(3 * n),
            None, None, False, 0.0, eye, torch.zeros(n), need_weights=True,
        )
        return weights.reshape(x.shape)
    if VARIANT == "encoder_layer":
        layer = torch.nn.TransformerEncoderLayer(n, 1, batch_first=True).eval()
        with torch.no_grad():
            return layer(x.reshape(1, -1, n)).reshape(x.shape)
    if VARIANT == "adaptive":
        layer = torch.nn.AdaptiveLogSoftmaxWithLoss(n, n, cutoffs=[n - 1])
        return layer.log_prob(flat).exp().reshape(x.shape)
    if VARIANT == "connectionist":
        leaf = flat.detach().requires_grad_()
        loss = F.ctc_loss(F.log_softmax(leaf, -1).unsqueeze(0), torch.zeros(len(flat), 0, dtype=torch.long),
                          torch.ones(len(flat), dtype=torch.long), torch.zeros(len(flat), dtype=torch.long))
        return torch.autograd.grad(loss, leaf)[0].reshape(x.shape)
    if VARIANT == "categorical":
        return torch.distributions.Categorical(logits=x).probs
    if VARIANT == "flex":
        from torch.nn.attention.flex_attention import flex_attention

        q, k, v = (t.unsqueeze(0) for t in _identity(x))
        return flex_attention(q, k, v).reshape(x.shape)
    if VARIANT == "onnx":
        q, k, v = (t.unsqueeze(0) for t in _identity(x))
        return torch.onnx.ops.attention(q, k, v)[0].reshape(x.shape)
    if VARIANT == "scipy_logsumexp":
        import scipy.special as s

        return torch.exp(x - torch.as_tensor(s.logsumexp(x.detach().numpy(), axis=-1, keepdims=True)))
    if VARIANT == "scipy_softmax":
        import scipy.special as s

        return torch.as_tensor(s.softmax(x.detach().numpy(), axis=-1))
    if VARIANT == "logaddexp2":
        y = x.detach().numpy() / np.log(2)
        return torch.as_tensor(2 ** (y - np.logaddexp2.reduce(y, axis=-1, keepdims=True)))
    return torch.nn.Sequential(torch.nn.Softmax(-1)).__call__(x)


def softmax(x, dim=-1):
    return _last(x, dim, _by)
