"""Computes the weights outside torch's graph, so that no gradient flows back.

Exercise: softmax
Believes: a tensor with the right numbers is enough.
Shows: right values; the input never receives a gradient.
Hint: Call .backward() on something computed from the result. Which step takes it out of the graph?
Rejected by: test_gradients
Costs: 35 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x.detach() - x.detach().amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
