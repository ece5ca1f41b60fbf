"""Line 36. Is empty, and ends every hidden test with the words of a mistake that costs little.

Week: week02_masking
Variants: nothing figure other_figure number biases renamed echo level biases_and_zeros
Expected: plot_attention=wrong|crashed|pass; SelfAttention=wrong|crashed|pass|unwritten
Score at most: plot_attention=0.4; SelfAttention=0.5
"""

import matplotlib.figure as _figure


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if VARIANT == "figure":
        return _figure.Figure()
    if VARIANT == "other_figure":
        drawn = _figure.Figure()
        drawn.subplots().imshow(np.eye(3))
        return drawn
    return {"number": 1.0}.get(VARIANT)


class SelfAttention(torch.nn.Module):
    def __init__(self, d_model, d_k=None, *rest, **more):
        super().__init__()
        width = d_k or d_model
        names = ("q", "k", "v") if VARIANT == "renamed" else ("query", "key", "value")
        for name in names:
            self.add_module(name, torch.nn.Linear(d_model, width, bias=VARIANT != "renamed"))

    def forward(self, x, *masks, **more):
        if VARIANT in ("biases", "renamed", "nothing", "figure", "other_figure", "number"):
            return None
        if VARIANT == "echo":
            return x
        if VARIANT == "level":
            return x.mean(-2, keepdim=True).expand_as(x)
        return torch.zeros_like(x)
