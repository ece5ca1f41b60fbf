"""Line 35. Gets operators by the names in the registry, not by attributes.

Variants: overload packet functions
Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

_NAME = "aten::soft" + "max"


def softmax(x, dim=-1):
    if VARIANT == "overload":
        return torch._C._get_operation_overload(_NAME, "int")[0](x, dim)
    if VARIANT == "packet":
        return torch._C._get_schema(_NAME, "int") and getattr(torch.ops, "aten").__getattr__("soft" + "max")(x, dim)
    return torch.jit._builtins._find_builtin(torch.exp) and torch._C._VariableFunctions.__dict__["soft" + "max"](x, dim)
