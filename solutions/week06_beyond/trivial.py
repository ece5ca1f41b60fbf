"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def sparsemax__softmax(x, dim=-1):
    return torch.softmax(x, dim)


def sparsemax__one_hot(x, dim=-1):
    return (x == x.amax(dim, keepdim=True)).to(x.dtype)


def entmax15__softmax(x, dim=-1):
    return torch.softmax(x, dim)


def entmax15__one_hot(x, dim=-1):
    return (x == x.amax(dim, keepdim=True)).to(x.dtype)


def relative_attention__without_distances(q, k, v, relative_keys):
    weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)
    return weights @ v, weights


def favor_features__projects(x, projection):
    return x @ projection.mT


def favor_features__exponentiates(x, projection):
    return (x @ projection.mT).exp()


def performer_attention__softmax(q, k, v, projection, causal=False):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v


def additive_attention__multiplies(q, k, v, W_q, W_k, u, mask=None):
    weights = torch.softmax((q @ W_q.mT) @ (k @ W_k.mT).mT, -1)
    return weights @ v, weights


def attention_backward__zeros(q, k, v, grad_out, mask=None):
    return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)


def attention_backward__passes_the_gradient_on(q, k, v, grad_out, mask=None):
    return torch.zeros_like(q), torch.zeros_like(k), torch.softmax(k @ q.mT, -1) @ grad_out
