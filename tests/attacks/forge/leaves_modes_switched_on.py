"""Line 23. Leaves torch modes enabled, at import or in a call, to run before the grader's.

Week: week07_flash
Variants: dispatch_at_import function_at_import dispatch_in_call function_in_call keeps_device_context vmap_levels grad_levels saved_hooks
Expected: tiled_attention=wrong|crashed|pass|forbidden|limit|timeout|not_run
Score at most: tiled_attention=2
"""

from torch.overrides import TorchFunctionMode


_honest = tiled_attention
_ON = []
_Mode = vars(vars(torch.utils)["_python_" + "dispatch"])["TorchDispatch" + "Mode"]
_C = vars(torch)["_" + "C"]


class _Dispatch(_Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class _Function(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _on(mode):
    if not _ON:
        mode.__enter__()
        _ON.append(mode)


if VARIANT == "dispatch_at_import":
    _on(_Dispatch())
if VARIANT == "function_at_import":
    _on(_Function())


def tiled_attention(q, k, v, *args, **kwargs):
    if VARIANT == "dispatch_in_call":
        _on(_Dispatch())
    if VARIANT == "function_in_call":
        _on(_Function())
    if VARIANT == "keeps_device_context":
        _on(torch.device("cpu"))
    if VARIANT == "saved_hooks":
        _on(torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x))
    if VARIANT == "vmap_levels":
        _C._functorch._vmap_increment_nesting(2, "error")
    if VARIANT == "grad_levels":
        _C._functorch._grad_increment_nesting()
    return _honest(q, k, v, *args, **kwargs)
