"""Sets the spread from the number of inputs alone, √(2 / fan_in), a rule made for layers with ReLU.

Exercise: SelfAttention
Believes: He's rule and Glorot's are the same.
Shows: the entries of all matrices are too large.
Hint: Which two numbers does the docstring add under the root?
Rejected by: test_matrices
Costs: 25 %
"""


class SelfAttention(SelfAttention):
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(seed)
        spread = math.sqrt(2.0 / d_model)
        self.Wq, self.Wk, self.Wv = (
            rng.normal(0.0, spread, (d_model, out)) for out in (dk, dk, dv)
        )
