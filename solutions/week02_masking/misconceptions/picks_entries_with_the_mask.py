"""Uses the mask as an index, which has to have the shape of the scores.

Exercise: masked_softmax
Believes: a mask is as large as what it hides.
Shows: right where mask and scores have one shape, an error where the mask broadcasts.
Hint: Which operations broadcast a mask, and which do not?
Rejected by: test_mask_broadcasts
Costs: 20 %
"""

def masked_softmax(scores, mask, dim=-1):
    scores = scores.clone()
    scores[~mask] = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores, dim=dim).clone()
    weights[~mask] = 0.0
    return weights
