"""Stores all inputs and computes everything again.

Exercise: RecurrentAttention
Believes: A new output needs all positions.
Shows: Outputs are correct, but each new token takes longer.
Hint: What does the state save you from computing again?
Rejected by: test_work_of_decoding
Costs: 40 %
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
        if state is None:
            self.seen = x.detach()
        elif getattr(self, "seen", x[:0]).shape[0] == x.shape[0]:
            self.seen = torch.cat([self.seen, x.detach()], dim=1)
            sum(layer(self.seen).sum() for layer in (self.W_q, self.W_k, self.W_v))
        q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
        log_decay = F.logsigmoid(self.W_g(x)).transpose(1, 2) / 16
        o, state = chunked_linear_attention(q, k, v, log_decay, state=state)
        return (self.W_o(rms_norm(o).transpose(1, 2).flatten(2)), state)
