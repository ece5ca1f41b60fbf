"""Public checks for week 13: small examples with known answers. Run them with `pytest`."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def rounded(x):
    return [round(value, 3) for value in x.flatten().tolist()]


def row(*values):
    """Vectors with one feature, (1, 1, T, 1)."""
    return torch.tensor(values, dtype=torch.float32).view(1, 1, -1, 1)


class Counting(TorchDispatchMode):
    """Counts elements of new tensors, and records the largest tensor."""

    def __init__(self):
        super().__init__()
        self.elements = self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not func.is_view:
            self.elements += result.numel()
            self.largest = max(self.largest, result.numel())
        return result


def counted(call, *arguments):
    with Counting() as counting:
        call(*arguments)
    return counting


def tensors_of(value):
    """All tensors in the attributes of an object and in containers there."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return []
    return [tensor for part in value for tensor in tensors_of(part)]


def returned(cache, *numbers):
    """Append positions whose key and value is a number; return the stored keys and positions."""
    keys, values, positions = cache.append(row(*numbers), 10 * row(*numbers))
    assert rounded(values) == [10 * number for number in rounded(keys)], (
        "the value of each key should be ten times the key: keys and values do not match"
    )
    return rounded(keys), positions.tolist()


def test_RollingCache_window():
    from memory import RollingCache

    cache = RollingCache(3)
    steps = [
        ([1], [1], [0]),
        ([2, 3], [1, 2, 3], [0, 1, 2]),
        ([4], [1, 2, 3, 4], [0, 1, 2, 3]),
        ([5], [2, 3, 4, 5], [1, 2, 3, 4]),
        ([6, 7], [3, 4, 5, 6, 7], [2, 3, 4, 5, 6]),
    ]
    for new, keys, positions in steps:
        found = returned(cache, *new)
        assert found == (keys, positions), (
            f"window 3, {new} appended: keys and positions should be {keys} and {positions}, "
            f"not {found[0]} and {found[1]}"
        )
    assert cache.length == 7, f"7 positions were appended, but length is {cache.length}"


def test_RollingCache_sinks():
    from memory import RollingCache

    cache = RollingCache(2, 2)
    steps = [
        ([1], [1], [0]),
        ([2], [1, 2], [0, 1]),
        ([3, 4], [1, 2, 3, 4], [0, 1, 2, 3]),
        ([5], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4]),
        ([6], [1, 2, 4, 5, 6], [0, 1, 3, 4, 5]),
        ([7, 8, 9, 10], [1, 2, 5, 6, 7, 8, 9, 10], [0, 1, 4, 5, 6, 7, 8, 9]),
        ([11], [1, 2, 9, 10, 11], [0, 1, 8, 9, 10]),
    ]
    for new, keys, positions in steps:
        found = returned(cache, *new)
        assert found == (keys, positions), (
            f"window 2, 2 sinks, {new} appended: keys and positions should be {keys} and "
            f"{positions}, not {found[0]} and {found[1]}"
        )


def test_RollingCache_two_caches():
    from memory import RollingCache

    one, other = RollingCache(2, 1), RollingCache(3)
    for number in range(6):
        returned(one, number)
        returned(other, -number)
    assert returned(one, 6) == ([0, 4, 5, 6], [0, 4, 5, 6]), "two caches share their positions"
    assert returned(other, -6) == ([-3, -4, -5, -6], [3, 4, 5, 6]), "two caches share positions"


@pytest.mark.parametrize("sizes", [[1] * 40, [40], [40, 1], [17, 23]])
def test_RollingCache_memory(sizes):
    from memory import RollingCache

    cache = RollingCache(4, 2)
    for seed, size in enumerate(sizes):
        cache.append(random(1, 2, size, 32, seed=seed), random(1, 2, size, 32, seed=seed + 99))
    stored = {x.untyped_storage().data_ptr(): x.untyped_storage() for x in tensors_of(vars(cache))}
    size = sum(storage.nbytes() for storage in stored.values())
    most = 6 * 2 * 2 * 32 * 4
    assert size <= 1.3 * most, (
        f"6 positions take {most} bytes, but after chunks of {sizes} positions the cache keeps "
        f"{size} bytes alive. Does a slice still refer to a larger tensor?"
    )


def test_RollingCache_stores_copies():
    from memory import RollingCache

    cache, k = RollingCache(4, 1), row(1, 2)
    cache.append(k, 10 * row(1, 2))
    k.fill_(99.0)
    first = cache.append(row(3), 10 * row(3))
    kept = [x.clone() for x in first]
    for number in range(4, 9):
        cache.append(row(number), 10 * row(number))
    assert rounded(kept[0]) == [1, 2, 3], "a change of the appended tensor changed the cache"
    same = all(torch.equal(x, y) for x, y in zip(first, kept, strict=True))
    assert same, "a later append changed tensors that were returned before"


@pytest.mark.parametrize(("window", "sinks"), [(0, 0), (-5, 1), (4, -2)])
def test_RollingCache_refuses(window, sinks):
    from memory import RollingCache

    with pytest.raises(ValueError, match=str(window if window < 1 else sinks)):
        RollingCache(window, sinks)


FREQUENCIES = torch.tensor([0.5, 0.05])


def turned(x, position):
    """One vector of four features, rotated to a position."""
    pairs = torch.view_as_complex(x.double().view(2, 2).contiguous())
    angles = position * FREQUENCIES.double()
    return torch.view_as_real(pairs * torch.polar(torch.ones(2).double(), angles)).flatten()


def one_query(q, keys, values):
    """Attention of one query whose keys have no gaps; it is at the last of their positions."""
    scores = [turned(q, len(keys) - 1) @ turned(key, j) / 2 for j, key in enumerate(keys)]
    weights = torch.softmax(torch.stack(scores), dim=-1)
    return (weights[:, None] * values.double()).sum(0).float()


def seen_by(position, window, sinks):
    """The positions of the keys that a query sees."""
    return [a for a in range(position + 1) if position - a < window or a < sinks]


@pytest.mark.parametrize(("window", "sinks"), [(10, 0), (3, 0), (3, 2), (1, 1), (2, 4)])
@pytest.mark.parametrize("queries", [10, 4, 1])
def test_sink_attention_query_by_query(window, sinks, queries):
    from memory import sink_attention

    q, k, v = random(1, 2, queries, 4), random(1, 2, 10, 4, seed=1), random(1, 2, 10, 3, seed=2)
    found = sink_attention(q, k, v, torch.arange(10), window, sinks, FREQUENCIES)
    for h in range(2):
        for i in range(queries):
            position = 10 - queries + i
            seen = seen_by(position, window, sinks)
            expected = one_query(q[0, h, i], k[0, h, seen], v[0, h, seen])
            assert torch.allclose(found[0, h, i], expected, atol=1e-4), (
                f"window {window}, {sinks} sinks: the query at position {position} sees the keys "
                f"at {seen}, which are at 0 to {len(seen) - 1} within its cache. "
                f"Its output should be {expected}, not {found[0, h, i]}"
            )


@pytest.mark.parametrize("start", [3, 50, 10**8])
def test_sink_attention_far_from_the_sinks(start):
    from memory import sink_attention

    q, k, v = random(1, 1, 1, 4), random(1, 1, 5, 4, seed=1), random(1, 1, 5, 3, seed=2)
    positions = torch.tensor([0, 1, start, start + 1, start + 2])
    found = sink_attention(q, k, v, positions, 3, 2, FREQUENCIES)[0, 0, 0]
    expected = one_query(q[0, 0, 0], k[0, 0], v[0, 0])
    assert torch.allclose(found, expected, atol=1e-4), (
        f"2 sinks and a window of 3 that begins at {start}: the keys are at 0 to 4 within the "
        f"cache, and the output should be {expected}, not {found}"
    )


def test_sink_attention_in_chunks():
    from memory import sink_attention

    q, k, v = (random(1, 2, 12, 4, seed=s) for s in range(3))
    whole = sink_attention(q, k, v, torch.arange(12), 3, 2, FREQUENCIES)
    for start, end in ((0, 5), (5, 6), (6, 12)):
        kept = [a for a in range(end) if a < 2 or a > start - 3]
        part = sink_attention(
            q[:, :, start:end], k[:, :, kept], v[:, :, kept], torch.tensor(kept), 3, 2, FREQUENCIES
        )
        assert torch.allclose(part, whole[:, :, start:end], atol=1e-4), (
            f"the queries {start} to {end - 1} have other outputs in a chunk than in one call"
        )


def test_sink_attention_trains():
    from memory import sink_attention

    q, k, v = (random(1, 1, 6, 4, seed=s).requires_grad_() for s in range(3))
    sink_attention(q, k, v, torch.arange(6), 2, 1, FREQUENCIES)[:, :, -1].sum().backward()
    for name, x in (("q", q), ("k", k), ("v", v)):
        assert x.grad is not None, f"{name} has no gradient"
    touched = [bool(x.any()) for x in v.grad[0, 0]]
    assert touched == [True, False, False, False, True, True], (
        f"the last query sees the keys 0, 4 and 5, so only these values get a gradient: {touched}"
    )


def test_sink_attention_refuses():
    from memory import sink_attention

    x = random(1, 1, 5, 4)
    with pytest.raises(ValueError, match="7"):
        sink_attention(x, x, x, torch.arange(7), 3, 1, FREQUENCIES)


def latent_attention(*sizes):
    from memory import MultiHeadLatentAttention

    torch.manual_seed(0)
    layer = MultiHeadLatentAttention(*sizes)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(2)
    return layer


def test_MultiHeadLatentAttention_has_its_parameters():
    shapes = {n: tuple(p.shape) for n, p in latent_attention(8, 2, 5, 6).state_dict().items()}
    expected = {
        "W_q.weight": (8, 8),
        "W_qr.weight": (12, 8),
        "W_dkv.weight": (5, 8),
        "W_uk.weight": (8, 5),
        "W_uv.weight": (8, 5),
        "W_kr.weight": (6, 8),
        "W_o.weight": (8, 8),
    }
    assert shapes == expected, f"the parameters should be {expected}, not {shapes}"


def turn_pairs(x, position):
    """Rotate the pairs of a vector by position · 10000^(-2i/d)."""
    frequencies = 10000 ** -(torch.arange(0, x.numel(), 2).double() / x.numel())
    pairs = torch.view_as_complex(x.double().view(-1, 2).contiguous())
    ones = torch.ones_like(frequencies)
    return torch.view_as_real(pairs * torch.polar(ones, position * frequencies)).flatten().float()


def test_MultiHeadLatentAttention_position_by_position():
    layer, x = latent_attention(8, 2, 5, 6), random(1, 5, 8)
    with torch.no_grad():
        y, cache = layer(x)
        rows = [
            torch.cat([layer.W_dkv(z), turn_pairs(layer.W_kr(z), t)]) for t, z in enumerate(x[0])
        ]
        assert cache.shape == (1, 5, 11), f"(B, T, d_c + d_r) is (1, 5, 11), not {cache.shape}"
        assert torch.allclose(cache[0], torch.stack(rows), atol=1e-4), (
            "each row of the cache should be the latent vector, followed by the rotated key"
        )
        for t, z in enumerate(x[0]):
            heads = []
            for h in range(2):
                part, rotary = slice(4 * h, 4 * h + 4), slice(6 * h, 6 * h + 6)
                q, q_r = layer.W_q(z)[part], turn_pairs(layer.W_qr(z)[rotary], t)
                latents, keys = torch.stack(rows[: t + 1]).split([5, 6], dim=-1)
                scores = layer.W_uk(latents)[:, part] @ q + keys @ q_r
                weights = torch.softmax(scores / math.sqrt(10), dim=-1)
                heads.append(weights @ layer.W_uv(latents)[:, part])
            expected = layer.W_o(torch.cat(heads))
            assert torch.allclose(y[0, t], expected, atol=1e-3), (
                f"position {t}: y should be {expected}, not {y[0, t]}"
            )


def test_MultiHeadLatentAttention_in_pieces():
    layer, x, other = latent_attention(8, 2, 5, 6), random(2, 9, 8), random(2, 4, 8, seed=1)
    with torch.no_grad():
        whole, end = layer(x)
        for sizes in ((9,), (4, 1, 1, 3), (2, 7)):
            cache, outputs = None, []
            for piece in x.split(sizes, dim=1):
                before = None if cache is None else cache.clone()
                y, new = layer(piece, cache)
                assert cache is None or torch.equal(cache, before), "the given cache has changed"
                cache = new
                layer(other)
                outputs.append(y)
            assert torch.allclose(torch.cat(outputs, dim=1), whole, atol=1e-3), (
                f"in chunks of {sizes}, outputs differ"
            )
            assert torch.allclose(cache, end, atol=1e-4), f"in chunks of {sizes}, the cache differs"


def test_MultiHeadLatentAttention_trains_all_layers():
    layer = latent_attention(8, 2, 5, 6)
    x = random(1, 4, 8).requires_grad_()
    layer(x)[0].square().sum().backward()
    for name, parameter in layer.named_parameters():
        trained = parameter.grad is not None and bool(parameter.grad.any())
        assert trained, f"{name} has no gradient"


def test_MultiHeadLatentAttention_refuses():
    from memory import MultiHeadLatentAttention

    with pytest.raises(ValueError, match="14"):
        MultiHeadLatentAttention(14, 4, 5, 2)
    with pytest.raises(ValueError, match="7"):
        MultiHeadLatentAttention(16, 4, 5, 7)


# Two positions of two keys and two values, on a grid with steps of 1 and of 2.
KEYS = torch.tensor([[0.0, 30.0], [15.0, 0.0], [7.0, 8.0]])[None, None]
VALUES = torch.tensor([[0.0, 15.0, 3.0, 4.0], [-10.0, 20.0, 0.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
VALUES = VALUES[None, None]


def test_quantize_kv_by_hand():
    from memory import quantize_kv

    (codes, scale, zero), _ = quantize_kv(KEYS, VALUES, 4)
    assert rounded(scale) == [1, 2], (
        f"the features of the keys range from 0 to 15 and from 0 to 30: scales 1 and 2, not {scale}"
    )
    assert rounded(zero) == [0, 0], f"both minima are 0, not {zero}"
    assert codes.dtype == torch.uint8, f"codes should be uint8, not {codes.dtype}"
    expected = [0 + 16 * 15, 15 + 16 * 0, 7 + 16 * 4]
    assert codes.flatten().tolist() == expected, (
        "the codes of the keys are 0 and 15, 15 and 0, 7 and 4; the first of two in the lower "
        f"half of a byte: {expected}, not {codes.flatten().tolist()}"
    )
    _, (codes, scale, zero) = quantize_kv(KEYS, VALUES, 4)
    assert rounded(scale) == [1, 2, 1], f"the positions have the scales 1, 2 and 1, not {scale}"
    assert rounded(zero) == [0, -10, 5], f"their minima are 0, -10 and 5, not {zero}"
    expected = [0 + 16 * 15, 3 + 16 * 4, 0 + 16 * 15, 5 + 16 * 6, 0, 0]
    assert codes.flatten().tolist() == expected, (
        f"the bytes of the values should be {expected}, not {codes.flatten().tolist()}"
    )


def test_quantize_kv_in_bytes():
    from memory import quantize_kv

    k = torch.tensor([[-5.0, 0.0, 1.0], [250.0, 51.0, 1.0], [98.4, 10.12, 1.0]])[None, None]
    (codes, scale, zero), (value_codes, _, _) = quantize_kv(k, k, 8)
    assert codes.shape == (1, 1, 3, 3), f"one byte per number: {tuple(codes.shape)}"
    assert rounded(scale) == [1, 0.2, 1], f"scales 1, 0.2, and 1 for equal numbers, not {scale}"
    assert rounded(zero) == [-5, 0, 1], f"the minima are -5, 0 and 1, not {zero}"
    assert codes.flatten().tolist() == [0, 0, 0, 255, 255, 0, 103, 51, 0], (
        f"codes are rounded to the nearest: 103.4 to 103 and 50.6 to 51; not {codes}"
    )
    assert value_codes[0, 0, :, 0].tolist() == [0, 255, 255], (
        f"values have a group for each position: {value_codes}"
    )


@pytest.mark.parametrize("bits", [4, 8])
def test_quantize_kv_errs_by_half_a_level(bits):
    from memory import quantize_kv

    k, v = random(2, 2, 30, 4) * torch.tensor([1.0, 100.0, 1.0, 1.0]), random(2, 2, 30, 6, seed=1)
    for x, (codes, scale, zero) in zip((k, v), quantize_kv(k, v, bits), strict=True):
        if bits == 4:
            pairs = [[byte & 15, byte >> 4] for byte in codes.flatten().tolist()]
            codes = torch.tensor(pairs).view(x.shape)
        error = ((zero + scale * codes - x).abs() / scale).max().item()
        assert error <= 0.501, f"an entry is off by {error:.2f} levels, {bits} bits"


def test_quantize_kv_head_by_head():
    from memory import quantize_kv

    k, v = torch.cat([KEYS, 10 * KEYS], dim=1), torch.cat([VALUES, 10 * VALUES], dim=1)
    for codes, scale, _ in quantize_kv(k, v, 8):
        assert torch.equal(codes[:, 0], codes[:, 1]), (
            "head 1 is ten times head 0, so codes should be the same: heads have separate groups"
        )
        assert codes.shape[1] == scale.shape[1] == 2, "codes and scales have an axis for the heads"


def test_quantize_kv_refuses():
    from memory import quantize_kv

    x = random(1, 1, 4, 4)
    for bits in (2, 16):
        with pytest.raises(ValueError, match=str(bits)):
            quantize_kv(x, x, bits)
    with pytest.raises(ValueError, match="7"):
        quantize_kv(random(1, 1, 4, 7), x, 4)
    with pytest.raises(ValueError, match="7"):
        quantize_kv(x, random(1, 1, 4, 7), 4)


def test_dequantize_kv_by_hand():
    from memory import dequantize_kv

    codes = torch.tensor([[0, 255], [3, 130]], dtype=torch.uint8)[None, None]
    keys = codes, torch.tensor([[[[0.5, 2.0]]]]), torch.tensor([[[[1.0, -10.0]]]])
    values = codes, torch.tensor([[[[0.5], [2.0]]]]), torch.tensor([[[[1.0], [-10.0]]]])
    k, v = dequantize_kv(keys, values, 8)
    assert rounded(k) == [1, 500, 2.5, 250], f"1 + 0.5 · 0, -10 + 2 · 255 and so on, not {k}"
    assert rounded(v) == [1, 128.5, -4, 250], f"1 + 0.5 · 0, 1 + 0.5 · 255 and so on, not {v}"
    values = codes, torch.tensor([[[[1.0], [2.0]]]]), torch.tensor([[[[0.0], [-10.0]]]])
    keys = codes, torch.ones(1, 1, 1, 4), torch.tensor([[[[0.0, 100.0, 200.0, 300.0]]]])
    k, v = dequantize_kv(keys, values, 4)
    assert k.shape == (1, 1, 2, 4), f"two features per byte: (1, 1, 2, 4), not {tuple(k.shape)}"
    assert rounded(k) == [0, 100, 215, 315, 3, 100, 202, 308], (
        f"the codes are 0 0 15 15 and 3 0 2 8, the lower half of each byte first; not {k}"
    )
    assert rounded(v) == [0, 0, 15, 15, -4, -10, -6, 6], f"-10 + 2 · 3 and so on, not {v}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_dequantize_kv_dtype(dtype):
    from memory import dequantize_kv

    codes = torch.full((1, 1, 2, 2), 200, dtype=torch.uint8)
    group = codes, torch.full((1, 1, 1, 2), 400.0), torch.full((1, 1, 1, 2), -79900.0)
    k, v = dequantize_kv(group, group, 8, dtype)
    assert k.dtype == v.dtype == dtype, f"the dtype should be {dtype}, not {k.dtype}"
    assert rounded(k.float()) == [100] * 4, f"-79900 + 400 · 200 is 100, not {k}"


LOGITS = torch.tensor([[8.0, 4.0, 2.0], [7.0, 2.0, 1.0], [3.0, 6.0, 1.0], [5.0, 1.0, 4.0]]).log()


def test_route_tokens_by_hand():
    from memory import route_tokens

    experts, weights, slots, loss = route_tokens(LOGITS, 1, 2)
    assert experts.tolist() == [[0], [0], [1], [0]], f"the most likely experts, not {experts}"
    assert slots.tolist() == [[0], [1], [0], [-1]], (
        f"expert 0 has two places: the last token finds none, so slots should not be {slots}"
    )
    assert rounded(weights) == [0.571, 0.7, 0.6, 0], f"8/14, 7/10, 6/10 and 0, not {weights}"
    expected = 3 * (0.75 * (8 / 14 + 0.7 + 0.3 + 0.5) / 4 + 0.25 * (4 / 14 + 0.2 + 0.6 + 0.1) / 4)
    assert abs(loss.item() - expected) < 1e-4, (
        f"3 · (3/4 · P_0 + 1/4 · P_1 + 0 · P_2) is {expected:.4f}, not {loss}"
    )


def test_route_tokens_two_choices():
    from memory import route_tokens

    experts, weights, slots, loss = route_tokens(LOGITS, 2, 3)
    assert experts.tolist() == [[0, 1], [0, 1], [1, 0], [0, 2]], f"two experts each, not {experts}"
    assert slots.tolist() == [[0, 1], [1, 2], [0, -1], [2, 0]], (
        "expert 0 is the first choice of tokens 0, 1 and 3, so token 2 finds no place there; "
        f"expert 1 is filled by token 2 before the second choices of tokens 0 and 1; not {slots}"
    )
    assert rounded(weights) == [0.571, 0.286, 0.7, 0.2, 0.6, 0, 0.5, 0.4], (
        f"probabilities among all three experts, 0 if dropped; not {weights}"
    )
    parts = [(8 / 14 + 0.7 + 0.3 + 0.5) / 4, (4 / 14 + 0.2 + 0.6 + 0.1) / 4, (2 / 14 + 0.6) / 4]
    expected = 3 * sum(
        share * part for share, part in zip((1 / 2, 3 / 8, 1 / 8), parts, strict=True)
    )
    assert abs(loss.item() - expected) < 1e-4, (
        f"4, 3 and 1 of the 8 choices: the loss is {expected:.4f}, not {loss}"
    )


def test_route_tokens_trains():
    from memory import route_tokens

    logits = LOGITS.clone().requires_grad_()
    _, weights, _, loss = route_tokens(logits, 1, 2)
    (gradient,) = torch.autograd.grad(loss, logits, retain_graph=True)
    assert gradient[:, 0].min() > 0, "the loss should push down the logits of the popular expert 0"
    (gradient,) = torch.autograd.grad(weights.sum(), logits)
    assert gradient[:3].any(dim=-1).all(), "the weights should have gradients"
    assert not gradient[3].any(), "the weight of the dropped token should have no gradient"


def test_route_tokens_refuses():
    from memory import route_tokens

    for k, capacity, wrong in ((0, 2, 0), (4, 2, 4), (1, 0, 0), (2, -7, -7)):
        with pytest.raises(ValueError, match=str(wrong)):
            route_tokens(LOGITS, k, capacity)


def attended(q, k, v, causal):
    """Attention over all positions, for one query after the other."""
    q, k, v = (torch.cat(list(x), dim=2).double() for x in (q, k, v))
    outputs = []
    for i in range(q.shape[2]):
        end = i + 1 if causal else k.shape[2]
        scores = q[:, :, i : i + 1] @ k[:, :, :end].mT / math.sqrt(q.shape[-1])
        outputs.append(torch.softmax(scores, dim=-1) @ v[:, :, :end])
    return torch.cat(outputs, dim=2).float()


def ring_blocks(sizes, width=4, factor=1.0):
    return [
        [factor * random(1, 2, size, width, seed=10 * s + r) for r, size in enumerate(sizes)]
        for s in range(3)
    ]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("sizes", [(5,), (3, 3), (2, 2, 2, 2), (1, 4, 2)])
def test_ring_attention_is_attention(causal, sizes):
    from memory import ring_attention

    for factor in (1.0, 20.0):
        q, k, v = ring_blocks(sizes, factor=factor)
        found = ring_attention(q, k, v, causal)
        shapes = [x.shape[2] for x in found]
        assert shapes == list(sizes), f"blocks of outputs should have the sizes {sizes}: {shapes}"
        expected = attended(q, k, v, causal)
        assert torch.allclose(torch.cat(list(found), dim=2), expected, atol=1e-3 * factor), (
            f"blocks of {sizes}, causal={causal}, values up to {4 * factor:.0f}: outputs differ "
            "from attention over the whole sequence"
        )


def test_ring_attention_is_causal_by_default():
    from memory import ring_attention

    q, k, v = ring_blocks((2, 3))
    found = torch.cat(list(ring_attention(q, k, v)), dim=2)
    assert torch.allclose(found, attended(q, k, v, True), atol=1e-4), "causal is True by default"


def test_ring_attention_trains():
    from memory import ring_attention

    q, k, v = ([x.requires_grad_() for x in blocks] for blocks in ring_blocks((2, 2, 2)))
    ring_attention(q, k, v)[2].sum().backward()
    for name, blocks in (("k", k), ("v", v)):
        trained = [block.grad is not None and bool(block.grad.any()) for block in blocks]
        assert all(trained), f"the last outputs depend on all blocks of {name}: {trained}"


def test_ring_attention_costs():
    from memory import ring_attention

    blocks = ring_blocks([4] * 16, width=16)
    causal, full = (counted(ring_attention, *blocks, kind) for kind in (True, False))
    largest = max(causal.largest, full.largest)
    assert largest <= 4 * 2 * 4 * 16, (
        f"a block has {2 * 4 * 16} elements, but the largest tensor has {largest}"
    )
    assert causal.elements <= 0.75 * full.elements, (
        "causal attention over 16 blocks should need little more than half of the work"
    )


def test_ring_attention_refuses():
    from memory import ring_attention

    q, k, v = ring_blocks([1] * 7)
    with pytest.raises(ValueError, match=r"7|5"):
        ring_attention(q, k[:5], v[:5])
