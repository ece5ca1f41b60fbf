"""Keeps the gate away from 0 by a small number.

Exercise: RecurrentAttention
Believes: A small number prevents log(0).
Shows: Gates that are nearly closed stay open.
Hint: What is the smallest logarithm that your code can return? What should it be for W_g(x) = -1000?
Rejected by: test_strong_gates
Costs: 20 %
"""

class RecurrentAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f'd_model = {d_model} is not divisible by {n_heads} heads')
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_g = nn.Linear(d_model, n_heads)

    def forward(self, x, state=None):
        q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
        log_decay = torch.log(torch.sigmoid(self.W_g(x)) + 1e-12).transpose(1, 2) / 16
        o, state = chunked_linear_attention(q, k, v, log_decay, state=state)
        return (self.W_o(rms_norm(o).transpose(1, 2).flatten(2)), state)
