"""Changes the caller's tensor in place.

Exercise: softmax
Believes: writing in place only makes things faster.
Shows: right values for a tensor that needs no gradient, but the caller's scores are gone; an error
    for a leaf that does.
Hint: Print the scores before and after the call. Which of your operations writes into its input?
Rejected by: test_values
Costs: 20 %
Belief: changes_the_argument
"""


def softmax(x, dim=-1):
    x -= x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
