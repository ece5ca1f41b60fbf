"""Plain library calls that come close to an exercise of this week, and do none of its work."""


def sink_attention__values(q, k, v, positions, window, sinks, frequencies):
    return v[:, :, -q.shape[2] :].clone()


def sink_attention__softmax(q, k, v, positions, window, sinks, frequencies):
    return torch.softmax(q @ k.mT, dim=-1) @ v


def quantize_kv__bytes(k, v, bits=4):
    return (k.to(torch.uint8), k[:, :, :1], k[:, :, :1]), (v.to(torch.uint8), v[..., :1], v[..., :1])


def dequantize_kv__codes(keys, values, bits=4, dtype=torch.float32):
    return keys[0].to(dtype), values[0].to(dtype)


def route_tokens__topk(logits, k, capacity):
    weights, experts = logits.topk(k, dim=-1)
    return experts, weights, experts, weights.mean()


def ring_attention__own_blocks(q, k, v, causal=True):
    return [torch.softmax(x @ y.mT, dim=-1) @ z for x, y, z in zip(q, k, v)]
