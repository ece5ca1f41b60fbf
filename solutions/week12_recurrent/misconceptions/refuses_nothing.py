"""Does not check that d_model is divisible by the number of heads.

Exercise: RecurrentAttention
Believes: A remainder does no harm.
Shows: Sizes that do not divide raise no error in the constructor.
Hint: What should RecurrentAttention(14, 4) do?
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 20 %
"""

class RecurrentAttention(nn.Module):

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_g = nn.Linear(d_model, n_heads)

    def forward(self, x, state=None):
        q, k, v = (layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
        log_decay = F.logsigmoid(self.W_g(x)).transpose(1, 2) / 16
        o, state = chunked_linear_attention(q, k, v, log_decay, state=state)
        return (self.W_o(rms_norm(o).transpose(1, 2).flatten(2)), state)
