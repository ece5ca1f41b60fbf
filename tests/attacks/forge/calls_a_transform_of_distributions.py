"""Line 35. A class of the library composes the answer of plain operators.

Variants: transform method traced composed
Expected: softmax=forbidden|crashed|wrong|timeout|refused
Score at most: softmax=0
"""

#=== transform
_transform = torch.distributions.SoftmaxTransform()


def softmax(x, dim=-1):
    return _transform(x.movedim(dim, -1)).movedim(-1, dim)
#=== method
def softmax(x, dim=-1):
    move = vars(torch.distributions.transforms.SoftmaxTransform)["_call"]
    return move(torch.distributions.SoftmaxTransform(), x.movedim(dim, -1)).movedim(-1, dim)
#=== traced
from torch.fx.experimental.proxy_tensor import make_fx

_graph = make_fx(torch.distributions.SoftmaxTransform())(torch.randn(3, 4))


def softmax(x, dim=-1):
    return _graph(x.movedim(dim, -1)).movedim(-1, dim)
#=== composed
_chain = torch.distributions.ComposeTransform([torch.distributions.SoftmaxTransform()])


def softmax(x, dim=-1):
    return _chain(x.movedim(dim, -1)).movedim(-1, dim)
