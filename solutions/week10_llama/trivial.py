"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def rotary_frequencies__plain(d, base=10000.0, factor=1.0, method="linear", length=None):
    return base ** -(torch.arange(0, d, 2) / d)


def apply_rotary__nothing(x, frequencies, offset=0):
    return x.clone()


def sample_top_p__everything(logits, p, temperature=1.0, generator=None):
    return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]


def sample_top_p__likeliest(logits, p, temperature=1.0, generator=None):
    return logits.argmax(-1)
