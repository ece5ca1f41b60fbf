"""Line 35. Cuts the graph, and has a hook compute the gradient with the library while we pull it back.

Variants: leaf node prehook multi accumulate saved
Expected: softmax=forbidden|wrong|crashed
Score at most: softmax=1.4
Fails: test_gradients
"""

def _right(x, dim, g):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(torch.softmax(leaf, dim), leaf, g)[0]


def softmax(x, dim=-1):
    e = torch.exp(x.detach() - x.detach().amax(dim, keepdim=True))
    y = e / e.sum(dim, keepdim=True)
    if not x.requires_grad:
        return y
    y = y + 0 * x
    if VARIANT == "leaf":
        x.register_hook(lambda g: _right(x, dim, g))
    elif VARIANT == "node":
        y.grad_fn.register_hook(lambda inputs, outputs: (None, _right(x, dim, outputs[0])))
    elif VARIANT == "prehook":
        y.grad_fn.register_prehook(lambda outputs: (_right(x, dim, outputs[0]),))
    elif VARIANT == "multi":
        torch.autograd.graph.register_multi_grad_hook((x,), lambda g: _right(x, dim, g[0]))
    elif VARIANT == "accumulate":
        x.register_post_accumulate_grad_hook(lambda leaf: _right(leaf, dim, leaf.grad))
    else:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: _right(x, dim, t)):
            y = y * (1 + 0 * x)
    return y
