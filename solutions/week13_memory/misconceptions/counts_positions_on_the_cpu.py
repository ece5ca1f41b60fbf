"""Creates a tensor on the CPU.

Exercise: MultiHeadLatentAttention
Believes: Positions are only numbers.
Shows: Inputs on a different device raise an error.
Hint: On which device are the tensors that you create?
Rejected by: test_device
Costs: 25 %
"""

class MultiHeadLatentAttention(nn.Module):

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f'd_model = {d_model} is not divisible by {n_heads} heads')
        if d_rope % 2:
            raise ValueError(f'd_rope = {d_rope} is odd: features are rotated in pairs')
        self.n_heads, self.d_latent, self.d_rope = (n_heads, d_latent, d_rope)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache.shape[1]
        places = start + torch.arange(x.shape[1])
        frequencies = rotary_frequencies(self.d_rope).to(x.device)
        key = rotate(self.W_kr(x).unsqueeze(1), places, frequencies).squeeze(1)
        new = torch.cat([self.W_dkv(x), key], dim=-1)
        cache = new if cache is None else torch.cat([cache, new], dim=1)
        latent, shared = cache.split([self.d_latent, self.d_rope], dim=-1)
        q, q_r, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_qr(x), self.W_uk(latent), self.W_uv(latent)))
        q_r = rotate(q_r, places, frequencies)
        scores = (q @ k.mT + q_r @ shared.unsqueeze(1).mT) / math.sqrt(k.shape[-1] + self.d_rope)
        later = torch.arange(cache.shape[1], device=x.device) > places[:, None]
        weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
        return (self.W_o((weights @ v).transpose(1, 2).flatten(2)), cache)
