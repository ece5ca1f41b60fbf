"""Heads are folded into the batch, so that all of them share one `baddbmm`."""

import torch
from matplotlib.figure import Figure
from torch import nn


def split_heads(x, num_heads):
    batch, tokens, width = x.size()
    if divmod(width, num_heads)[1] != 0:
        raise ValueError("cannot cut %d into %d" % (width, num_heads))
    # heads first: (T, B*H, d), as PyTorch's own implementation does it
    folded = x.transpose(0, 1).contiguous().view(tokens, batch * num_heads, width // num_heads)
    return folded.transpose(0, 1).reshape(batch, num_heads, tokens, -1)


def merge_heads(x):
    return x.movedim(1, 2).contiguous().flatten(start_dim=-2)


def _attend(q, k, v, mask):
    """q (B, H, n, d), k and v (B, H, m, d), mask broadcastable or None -> output, weights."""
    *lead, n, d = q.shape
    m = k.shape[-2]
    bias = torch.zeros(1, 1, 1, dtype=q.dtype, device=q.device)
    scores = torch.baddbmm(bias, q.flatten(0, 1), k.flatten(0, 1).mT, beta=0, alpha=d**-0.5)
    scores = scores.view(*lead, n, m)
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        # the shifted exponentials by hand; an empty row divides 0 by 1
        hidden = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        top = hidden.amax(dim=-1, keepdim=True).detach()
        powers = torch.exp(hidden - top).masked_fill(~mask, 0)
        total = powers.sum(dim=-1, keepdim=True)
        weights = powers / torch.where(total == 0, torch.ones_like(total), total)
    output = torch.bmm(weights.flatten(0, 1), v.flatten(0, 1))
    return output.view(*lead, n, v.shape[-1]), weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"d_model={d_model}, num_heads={num_heads}: there is a remainder")
        self.num_heads = num_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, query, key=None, value=None, mask=None):
        key = key if key is not None else query
        value = value if value is not None else key
        if mask is not None and len(mask.shape) == 3:
            raise ValueError(f"expected 2 or 4 dimensions, got {len(mask.shape)}")
        heads = [
            layer(x).unflatten(-1, (self.num_heads, -1)).permute(0, 2, 1, 3)
            for layer, x in ((self.W_q, query), (self.W_k, key), (self.W_v, value))
        ]
        output, weights = _attend(*heads, mask)
        return self.W_o(merge_heads(output)), weights


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model // n_heads * n_heads != d_model:
            raise ValueError(f"d_model={d_model}, n_heads={n_heads}: there is a remainder")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, x, return_weights=False):
        batch, tokens, width = x.shape
        fused = self.qkv(x).view(batch, tokens, 3, self.n_heads, width // self.n_heads)
        q, k, v = fused.permute(2, 0, 3, 1, 4).unbind(0)
        causal = torch.tril(torch.ones(tokens, tokens, device=x.device)).bool()
        _, weights = _attend(q, k, v, causal[None, None])
        y = self.proj(merge_heads(torch.matmul(self.attn_dropout(weights), v)))
        return {True: (y, weights), False: y}[return_weights]


def plot_heads(weights, tokens=None):
    figure = Figure(figsize=(4, 3 * len(weights)))
    axes = figure.subplots(len(weights), 1, squeeze=False).ravel()
    for head in range(len(weights)):
        values = weights[head].detach().to("cpu", torch.float64).numpy()
        shown = axes[head].imshow(values, clim=(0, 1))
        axes[head].set_title("Head " + str(head + 1))
        axes[head].set_xlabel("Key")
        axes[head].set_ylabel("Query")
        if tokens:
            axes[head].set_xticks(list(range(len(tokens))), labels=tokens)
            axes[head].set_yticks(list(range(len(tokens))), labels=tokens)
    figure.colorbar(shown, ax=axes.tolist())
    return figure


def from_torch(mha):
    copy = MultiHeadAttention.__new__(MultiHeadAttention)
    nn.Module.__init__(copy)
    copy.num_heads = mha.num_heads
    bias_free = mha.in_proj_bias is None
    stacked = torch.cat([mha.in_proj_weight, mha.out_proj.weight]).detach()
    if bias_free:
        biases = stacked.new_zeros(len(stacked))
    else:
        biases = torch.cat([mha.in_proj_bias, mha.out_proj.bias]).detach()
    for name, weight, bias in zip(
        ["W_q", "W_k", "W_v", "W_o"], stacked.chunk(4), biases.chunk(4), strict=True
    ):
        layer = nn.Linear(1, 1, device="meta")
        layer.in_features = layer.out_features = mha.embed_dim
        layer.weight = nn.Parameter(weight.clone())
        layer.bias = nn.Parameter(bias.clone())
        copy.add_module(name, layer)
    return copy
