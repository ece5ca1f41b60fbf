"""Makes heads of a fixed width.

Exercise: RecurrentAttention
Believes: d is 4.
Shows: Correct only if d_model / n_heads is 4.
Hint: Make a layer with one head. How wide is it?
Rejected by: test_one_head_or_many
Costs: 30 %
"""

class RecurrentAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f'd_model = {d_model} is not divisible by {n_heads} heads')
        self.d = 4 if d_model % 4 == 0 else d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_g = nn.Linear(d_model, n_heads)

    def forward(self, x, state=None):
        q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
        log_decay = F.logsigmoid(self.W_g(x)).transpose(1, 2) / 16
        log_decay = log_decay.mean(1, keepdim=True).expand(q.shape[:3]) if q.shape[1] != log_decay.shape[1] else log_decay
        o, state = chunked_linear_attention(q, k, v, log_decay, state=state)
        return (self.W_o(rms_norm(o).transpose(1, 2).flatten(2)), state)
