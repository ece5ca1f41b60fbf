"""Draws from a uniform distribution.

Exercise: SelfAttention
Believes: Glorot's initialisation is always uniform.
Shows: other matrices, none of whose entries exceeds √(6 / (fan_in + fan_out)).
Hint: There are two distributions with the same spread. Which one does the docstring name?
Rejected by: test_matrices
Costs: 25 %
"""


class SelfAttention(SelfAttention):
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(seed)

        def draw(fan_out):
            bound = math.sqrt(6.0 / (d_model + fan_out))
            return rng.uniform(-bound, bound, (d_model, fan_out))

        self.Wq, self.Wk, self.Wv = draw(dk), draw(dk), draw(dv)
