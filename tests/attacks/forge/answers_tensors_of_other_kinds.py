"""Line 30. Answers right numbers in tensors of torch's rarer kinds, wrapped, lazy, named or not yet filled.

Variants: batched tracked functional lazy_zero named inference fused_masked uninitialized half_complex eighths sixteenths bits quantized_rows jagged distributed hooked symbolic swapped_data pinned_shape storageless
Expected: softmax=wrong|crashed|pass|bad_reply|timeout
Score at most: softmax=2
"""

_honest = softmax


def softmax(x, dim=-1):
    y = _honest(x, dim)
    if VARIANT == "batched":
        kept = []
        torch.func.vmap(lambda row: kept.append(row) or row)(y)
        return kept[0]
    if VARIANT == "tracked":
        kept = []
        torch.func.grad(lambda z: kept.append(z * 1) or z.sum())(y.detach().float())
        return kept[0]
    if VARIANT == "functional":
        return torch._to_functional_tensor(y)
    if VARIANT == "lazy_zero":
        return y + torch._efficientzerotensor(y.shape, dtype=y.dtype)
    if VARIANT == "named":
        return y.rename(*(f"n{i}" for i in range(y.ndim)))
    if VARIANT == "inference":
        with torch.inference_mode():
            return y.clone()
    if VARIANT == "fused_masked":
        from torch.masked import masked_tensor

        return masked_tensor(y.detach(), torch.ones_like(y, dtype=torch.bool))
    if VARIANT == "uninitialized":
        return torch.nn.parameter.UninitializedParameter()
    if VARIANT == "half_complex":
        return torch.complex(y.float(), y.float()).to(torch.complex32)
    if VARIANT == "eighths":
        return y.to(torch.float8_e4m3fn)
    if VARIANT == "sixteenths":
        return (y * 100).to(torch.uint16)
    if VARIANT == "bits":
        return y.contiguous().view(torch.uint8).view(torch.bits8)
    if VARIANT == "quantized_rows":
        return torch.quantize_per_tensor(y.float(), 0.01, 0, torch.quint8)
    if VARIANT == "jagged":
        return torch.nested.nested_tensor(list(y.reshape(-1, 1)), layout=torch.jagged)
    if VARIANT == "distributed":
        from torch.distributed._functional_collectives import AsyncCollectiveTensor

        return AsyncCollectiveTensor(y)
    if VARIANT == "hooked":
        y.register_hook(lambda g: torch.full_like(g, float("nan")))
        return y
    if VARIANT == "symbolic":
        from torch.fx.experimental.proxy_tensor import make_fx

        kept = []
        make_fx(lambda z: kept.append(z * 2) or kept[0], tracing_mode="symbolic")(y.detach())
        return kept[0]
    if VARIANT == "swapped_data":
        y.data = torch.empty(0, dtype=y.dtype)
        return y
    if VARIANT == "pinned_shape":
        y.untyped_storage().resize_(0)
        return y
    if VARIANT == "storageless":
        return torch.Tensor._make_wrapper_subclass(torch.Tensor, y.shape, dtype=y.dtype)
    return y
