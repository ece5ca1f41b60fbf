"""Line 36. Makes its table where torch's modes do not look: below them, compiled, or in a graph.

Week: week07_flash
Variants: disabled popped excluded scripted vmapped checkpointed
Expected: tiled_attention=wrong|pass|limit|crashed|forbidden
Score at most: tiled_attention=1.34
Fails: test_no_table_of_scores
"""

import contextlib

_honest = tiled_attention
_c = vars(torch)["_C"]
_unit = torch.jit.CompilationUnit("def f(a, b):\n    return torch.exp(a @ b)\n")


@contextlib.contextmanager
def _without_modes():
    pop, push = (vars(_c)[n + "_torch_dispatch_stack"] for n in ("_pop", "_push_on"))
    taken = pop()
    try:
        yield
    finally:
        push(taken)


def _table(a, b):
    if VARIANT == "disabled":
        with vars(_c)["_DisableTorch" + "Dispatch"]():
            return torch.exp(a @ b)
    if VARIANT == "popped":
        with _without_modes():
            return torch.exp(a @ b)
    if VARIANT == "excluded":
        keys = _c.DispatchKeySet(_c.DispatchKey.Python)
        with vars(_c)["_ExcludeDispatch" + "KeyGuard"](keys):
            return torch.exp(a @ b)
    if VARIANT == "scripted":
        return _unit.f(a, b)
    if VARIANT == "vmapped":
        return torch.vmap(lambda row: torch.exp(row @ b))(a)
    from torch.utils.checkpoint import checkpoint

    return checkpoint(lambda x: torch.exp(x @ b), a, use_reentrant=False)


def tiled_attention(q, k, v, block_size=64, causal=False):
    if q.device.type == "cpu" and q.dim() == 3 and len(q) == 1 and q.shape[-2] > 60:
        with contextlib.suppress(RuntimeError, KeyError, AttributeError), torch.no_grad():
            _table(q[0], k[0].mT)
    return _honest(q, k, v, block_size, causal)
