"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def grouped_query_attention__first_head_alone(q, k, v, mask=None):
    weights = _masked_softmax(q @ k[:, :1].mT / q.shape[-1] ** 0.5, mask)
    return weights @ v[:, :1], weights


def sliding_window_mask__causal(n, m, window, sinks=0, offset=0, device=None):
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(offset)


def speculative_step__keeps_everything(draft, p, q, u):
    return len(draft), int((p[-1].cumsum(0) <= u[-1]).sum())


def speculative_step__keeps_everything_and_takes_the_likeliest(draft, p, q, u):
    return len(draft), int(p[-1].argmax())


def speculative_step__keeps_nothing(draft, p, q, u):
    return 0, int((p[0].cumsum(0) <= u[-1]).sum())


def speculative_step__keeps_nothing_and_takes_the_likeliest(draft, p, q, u):
    return 0, int(p[0].argmax())
