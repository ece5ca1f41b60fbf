"""Line 36. A class whose layers have one small mistake and whose forward does nothing.

Week: week03_multihead
Variants: biases renamed extra missing order frozen
Expected: MultiHeadAttention=wrong|crashed|pass|unwritten; split_heads=wrong|crashed|pass
Score at most: MultiHeadAttention=0.6; split_heads=0.2
"""


def split_heads(x, n_heads):
    return x.float() if VARIANT == "order" else None


class MultiHeadAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, *rest, **more):
        super().__init__()
        names = {
            "renamed": ("q", "k", "v", "o"),
            "missing": ("q_proj", "k_proj", "v_proj"),
            "order": ("out_proj", "v_proj", "k_proj", "q_proj"),
        }.get(VARIANT, ("q_proj", "k_proj", "v_proj", "out_proj"))
        for name in names:
            self.add_module(name, torch.nn.Linear(d_model, d_model, bias=VARIANT == "biases"))
        if VARIANT == "extra":
            self.bias = torch.nn.Parameter(torch.zeros(d_model))
        if VARIANT == "frozen":
            self.requires_grad_(False)

    def forward(self, x, *others, **more):
        return x * 0
