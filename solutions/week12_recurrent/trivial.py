"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def feature_map__exp(x):
    return x.exp()


def linear_attention__softmax(q, k, v):
    weights = (q @ k.mT).exp().tril()
    return weights @ v / weights.sum(-1, keepdim=True)


def linear_attention_step__value(state, q, k, v):
    return v.clone(), (k.unsqueeze(-1) * v.unsqueeze(-2), k.clone())


def gated_linear_attention__no_decay(q, k, v, log_decay):
    return (q @ k.mT).tril() @ v


def chunked_linear_attention__no_decay(q, k, v, log_decay, chunk=64, state=None):
    return (q @ k.mT).tril() @ v, k.mT @ v


def delta_rule__sum(q, k, v, beta, state=None):
    return (q @ k.mT).tril() @ v, k.mT @ v


def delta_rule_chunked__sum(q, k, v, beta, chunk=64, state=None):
    return (q @ k.mT).tril() @ v, k.mT @ v
