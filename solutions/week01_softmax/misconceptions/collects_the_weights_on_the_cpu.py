"""Creates a tensor on the CPU, wherever the input is.

Exercise: softmax
Believes: a new tensor knows where it is needed.
Shows: right on the CPU; on a GPU the answer is on the wrong device, or torch refuses.
Hint: Where does torch put a tensor that you create from a shape alone? The input knows a better
    place.
Rejected by: test_device
Costs: 15 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    weights = torch.zeros(x.shape, dtype=x.dtype)
    weights += exponentials / exponentials.sum(dim=dim, keepdim=True)
    return weights
