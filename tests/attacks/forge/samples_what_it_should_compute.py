"""Line 35. Distributions normalise their own logits.

Variants: categorical one_hot relaxed mixture
Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    moved = x.movedim(dim, -1)
    made = {
        "categorical": lambda: torch.distributions.Categorical(logits=moved).probs,
        "one_hot": lambda: torch.distributions.OneHotCategorical(logits=moved).mean,
        "relaxed": lambda: torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), logits=moved).probs,
        "mixture": lambda: torch.distributions.Multinomial(1, logits=moved).mean,
    }[VARIANT]()
    return made.movedim(-1, dim)
