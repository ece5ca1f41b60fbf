"""Public checks for week 10: small examples with known answers. Run them with `pytest`."""

from pathlib import Path

import numpy as np
import pytest
import torch

SHIPPED = Path(__file__).with_name("model") / "austen.npz"


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def rounded(x):
    return [round(value, 4) for value in x.flatten().tolist()]


def test_rotary_frequencies_by_hand():
    from llama import rotary_frequencies

    answer = rotary_frequencies(4)
    assert answer.dtype == torch.float32, f"float32, not {answer.dtype}"
    assert rounded(answer) == [1.0, 0.01], f"10000^0 and 10000^(-2/4), not {rounded(answer)}"
    answer = rounded(rotary_frequencies(4, base=16.0))
    assert answer == [1.0, 0.25], f"16^0 and 16^(-2/4), not {answer}"


def test_rotary_frequencies_scaled():
    from llama import rotary_frequencies

    answer = rounded(rotary_frequencies(4, base=16.0, factor=2.0))
    assert answer == [0.5, 0.125], f"linear, factor 2: half of 1 and 0.25, not {answer}"
    answer = rounded(rotary_frequencies(4, base=16.0, factor=2.0, method="ntk"))
    assert answer == [1.0, 0.125], (
        f"ntk, factor 2: the first frequency stays 1, the last is divided by 2, not {answer}"
    )
    answer = rounded(rotary_frequencies(6, base=1000.0, factor=4.0, method="yarn", length=104))
    assert answer == [0.6263, 0.0266, 0.0025], (
        "yarn, factor 4: the pairs make 16.6, 1.66 and 0.17 turns, so their frequencies are "
        f"0.6263, 0.0266 and 0.0025, not {answer}"
    )


@pytest.mark.parametrize(
    ("wrong", "number"),
    [({"d": 5}, "5"), ({"factor": 0.5}, "0.5"), ({"method": "cubic"}, "cubic")],
)
def test_rotary_frequencies_refuses(wrong, number):
    from llama import rotary_frequencies

    with pytest.raises(ValueError, match=number):
        rotary_frequencies(**({"d": 4} | wrong))


def test_apply_rotary_by_hand():
    from llama import apply_rotary

    x = torch.tensor([1.0, 0.0, 0.0, 1.0]).expand(1, 1, 2, 4)
    frequencies = torch.tensor([torch.pi / 2, torch.pi])
    first, second = apply_rotary(x, frequencies)[0, 0]
    assert rounded(first) == [1, 0, 0, 1], f"position 0 is not rotated, but gives {rounded(first)}"
    assert rounded(second) == [0, 1, 0, -1], (
        "at position 1, the features 0 and 1 make a quarter turn, and 2 and 3 half a turn: "
        f"(1, 0, 0, 1) becomes (0, 1, 0, -1), not {rounded(second)}"
    )


def test_apply_rotary_with_an_offset():
    from llama import apply_rotary

    x, frequencies = random(2, 3, 7, 6), torch.tensor([1.0, 0.3, 0.02])
    whole = apply_rotary(x, frequencies)
    part = apply_rotary(x[:, :, 5:], frequencies, 5)
    assert torch.allclose(part, whole[:, :, 5:], atol=1e-5), (
        "the rows from 5 on, with offset 5, should be rotated as in the whole sequence"
    )
    each = apply_rotary(x[:, :, 2:4], frequencies, torch.tensor([2, 0]))
    assert torch.allclose(each[0], whole[0, :, 2:4], atol=1e-5), "sequence 0 begins at position 2"
    again = apply_rotary(x[1:, :, 2:4], frequencies)
    assert torch.allclose(each[1:], again, atol=1e-5), "sequence 1 begins at position 0"


def test_apply_rotary_in_half_precision():
    from llama import apply_rotary

    x, frequencies = random(1, 1, 2, 4), torch.tensor([1.0, 0.01])
    half = apply_rotary(x.bfloat16(), frequencies, 257)
    assert half.dtype == torch.bfloat16, f"the result has x's dtype, not {half.dtype}"
    wide = apply_rotary(x.bfloat16().float(), frequencies, 257)
    assert torch.allclose(half.float(), wide, atol=0.02), "position 257 is rounded in bfloat16"


def test_RMSNorm_by_hand():
    from llama import RMSNorm

    norm = RMSNorm(4)
    names = {name: tuple(value.shape) for name, value in norm.state_dict().items()}
    assert names == {"weight": (4,)}, f"the only parameter is `weight` (4,), not {names}"
    answer = rounded(norm(torch.tensor([1.0, 1.0, 7.0, 7.0])))
    assert answer == [0.2, 0.2, 1.4, 1.4], f"the mean of the squares is 25, so not {answer}"
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2.0, 3.0, 0.0]))
    answer = rounded(norm(torch.tensor([1.0, 1.0, 7.0, 7.0])))
    assert answer == [0.2, 0.4, 4.2, 0.0], f"each feature is multiplied by its weight: {answer}"
    answer = rounded(RMSNorm(2, eps=3.0)(torch.tensor([1.0, 1.0])))
    assert answer == [0.5, 0.5], f"1 / √(1 + 3) is 0.5, not {answer}"


def test_RMSNorm_in_half_precision():
    from llama import RMSNorm

    answer = RMSNorm(4).half()(torch.tensor([300.0, -300.0, 300.0, 300.0]).half())
    assert answer.dtype == torch.float16, f"the result has x's dtype, not {answer.dtype}"
    assert rounded(answer) == [1, -1, 1, 1], f"300² must not overflow: {rounded(answer)}"


def test_SwiGLU_by_hand():
    from llama import SwiGLU

    layer = SwiGLU(1, 1)
    names = {name: tuple(value.shape) for name, value in layer.state_dict().items()}
    expected = {f"{name}.weight": (1, 1) for name in ("gate", "up", "down")}
    assert names == expected, f"three layers without bias, not {names}"
    layer.load_state_dict(
        {
            f"{n}.weight": torch.tensor([[w]])
            for n, w in (("gate", 2.0), ("up", -3.0), ("down", 10.0))
        }
    )
    answer = rounded(layer(torch.tensor([[1.0]])))
    assert answer == [-52.8478], f"10 · (2 · sigmoid(2)) · (-3) is -52.8478, not {answer}"


class Joining:
    """A cache that concatenates: slow, and independent of the stub's."""

    def __init__(self):
        self.length, self.both = 0, None

    def append(self, k, v):
        new = torch.stack([k, v])
        self.both = new if self.both is None else torch.cat([self.both, new], dim=3)
        self.length = self.both.shape[3]
        return self.both[0], self.both[1]


FREQUENCIES = torch.tensor([1.0, 0.1])


def attention():
    """A layer in which positions matter."""
    from llama import LlamaAttention

    torch.manual_seed(0)
    layer = LlamaAttention(16, 4, 2)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(3)
    return layer


def test_LlamaAttention_has_small_projections():
    shapes = {name: tuple(value.shape) for name, value in attention().state_dict().items()}
    expected = {"W_q": (16, 16), "W_k": (8, 16), "W_v": (8, 16), "W_o": (16, 16)}
    expected = {f"{name}.weight": shape for name, shape in expected.items()}
    assert shapes == expected, f"the parameters should be {expected}, not {shapes}"


def test_LlamaAttention_head_by_head():
    layer, x = attention(), random(2, 5, 16)
    q, k, v = (w(x).unflatten(-1, (-1, 4)) for w in (layer.W_q, layer.W_k, layer.W_v))
    turns = torch.polar(torch.ones(5, 2), torch.arange(5)[:, None] * FREQUENCIES)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    heads = []
    for head in range(4):
        a, b = (
            torch.view_as_complex(y.unflatten(-1, (2, 2)).contiguous()) * turns
            for y in (q[:, :, head], k[:, :, head // 2])
        )
        scores = (a @ b.mH).real / 2
        weights = scores.masked_fill(~causal, -torch.inf).softmax(-1)
        heads.append(weights @ v[:, :, head // 2])
    expected = layer.W_o(torch.cat(heads, dim=-1))
    assert torch.allclose(layer(x, FREQUENCIES), expected, atol=1e-4), (
        "query head h attends with rotated queries and keys to key-value head h // 2"
    )


def test_LlamaAttention_in_pieces():
    layer, x = attention(), random(2, 7, 16)
    whole = layer(x, FREQUENCIES)
    assert whole.shape == x.shape, f"(B, s, C) in, (B, s, C) out, not {tuple(whole.shape)}"
    kept = []
    for sizes in ((7,), (4, 1, 1, 1), (2, 3, 2)):
        cache = Joining()
        pieces = [layer(piece, FREQUENCIES, cache) for piece in x.split(sizes, dim=1)]
        pieces = torch.cat(pieces, dim=1)
        assert cache.length == 7, f"in chunks of {sizes} the cache should end with 7 positions"
        worst = int((pieces - whole).abs().amax((0, 2)).argmax())
        assert torch.allclose(pieces, whole, atol=1e-4), (
            f"in chunks of {sizes} the outputs differ, with the largest error at position {worst}"
        )
        kept.append(cache.both)
    assert kept[0].shape == (2, 2, 2, 7, 4), "the cache holds the 2 key-value heads"
    plain = layer.W_k(x).unflatten(-1, (2, 4)).transpose(1, 2)
    assert torch.allclose(kept[0][0][:, :, 0], plain[:, :, 0], atol=1e-5), "key 0 is not rotated"
    assert not torch.allclose(kept[0][0][:, :, 6], plain[:, :, 6], atol=1e-2), (
        "keys should be rotated before they are stored"
    )


def test_LlamaAttention_makes_no_copies_of_its_keys():
    from torch.utils._python_dispatch import TorchDispatchMode

    from llama import LlamaAttention

    class Largest(TorchDispatchMode):
        elements = 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            result = operation(*args, **(kwargs or {}))
            made = isinstance(result, torch.Tensor) and not operation.is_view
            if made and result.ndim > 2:  # a mask or a weight has two axes
                self.elements = max(self.elements, result.numel())
            return result

    layer, cache = LlamaAttention(64, 16, 2), Joining()
    cache.append(random(1, 2, 300, 4), random(1, 2, 300, 4))
    with torch.no_grad(), Largest() as mode:
        layer(random(1, 1, 64), FREQUENCIES, cache)
    assert mode.elements < 16 * 300 * 4, (
        f"the cached keys have {2 * 300 * 4} elements, but a tensor of {mode.elements} is made"
    )


def test_LlamaBlock_adds_two_layers():
    from llama import LlamaBlock

    torch.manual_seed(0)
    block, x = LlamaBlock(16, 4, 2, 24), random(2, 5, 16)
    with torch.no_grad():
        block.norm1.weight.mul_(3), block.norm2.weight.mul_(0.5)
        middle = x + block.attn(block.norm1(x), FREQUENCIES)
        expected = middle + block.ff(block.norm2(middle))
    answer = block(x, FREQUENCIES)
    assert torch.allclose(answer, expected, atol=1e-5), (
        "each of the two layers gets a normalised input, and its output is added"
    )
    cache = Joining()
    block(x, FREQUENCIES, cache)
    assert cache.length == 5, "the cache should reach the attention"


def test_Llama_has_the_shipped_names():
    from llama import Llama

    names = set(Llama(2048, 192, 6, 2, 512, 4).state_dict())
    with np.load(SHIPPED) as file:
        expected = {name for name in file.files if "." in name}
    assert names == expected, (
        f"missing: {sorted(expected - names)[:3]}, unexpected: {sorted(names - expected)[:3]}"
    )


def test_Llama_ties_its_output():
    from llama import Llama

    torch.manual_seed(0)
    model = Llama(11, 8, 2, 1, 12, n_layers=0)
    with torch.no_grad():
        model.norm.weight.mul_(2)
    ids = torch.tensor([[3, 1, 4]])
    rows = model.embed.weight[ids]
    expected = model.norm(rows) @ model.embed.weight.mT
    assert torch.allclose(model(ids), expected, atol=1e-5), (
        "without blocks: embed, normalise, multiply by the rows of the embedding"
    )


def test_Llama_in_pieces():
    from llama import Llama

    torch.manual_seed(0)
    model = Llama(11, 16, 4, 2, 12, n_layers=2)
    ids = torch.randint(11, (2, 7), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole = model(ids)
        assert whole.shape == (2, 7, 11), f"logits are (B, s, V), not {tuple(whole.shape)}"
        for sizes in ((7,), (4, 1, 1, 1), (2, 3, 2)):
            caches = model.new_caches(2, 7)
            assert len(caches) == 2, f"one cache per layer, not {len(caches)}"
            pieces = torch.cat([model(piece, caches) for piece in ids.split(sizes, dim=1)], dim=1)
            assert torch.allclose(pieces, whole, atol=1e-5), f"in chunks of {sizes} logits differ"


def test_Llama_rotates_with_its_frequencies():
    from llama import Llama

    torch.manual_seed(0)
    model, ids = Llama(11, 16, 2, 1, 12, n_layers=1), torch.tensor([[1, 2, 3, 4]])
    with torch.no_grad():
        before = model(ids)
        model.frequencies = torch.tensor([2.0, 0.5, 0.1, 0.0])
        assert not torch.allclose(model(ids), before, atol=1e-6), (
            "other frequencies in the attribute should change the logits"
        )
    model = model.half()
    assert model.frequencies.dtype == torch.float32, (
        f"frequencies stay float32 in a half-precision model, not {model.frequencies.dtype}"
    )


def test_load_weights_of_the_shipped_model():
    from llama import load_weights

    model = load_weights(SHIPPED)
    with np.load(SHIPPED) as file:
        for name, value in model.state_dict().items():
            assert value.dtype == torch.float32, f"{name} should be float32, not {value.dtype}"
            same = np.array_equal(value.numpy(), file[name].astype(np.float32))
            assert same, f"{name} differs from the file"
    ids = torch.tensor([[500, 600, 700]])
    assert model(ids).shape == (1, 3, 2048), "the shipped model has 2048 tokens"


def test_load_weights_of_another_model(tmp_path):
    from llama import load_weights

    from llama import Llama

    torch.manual_seed(0)
    model = Llama(9, 24, 3, 1, 10, n_layers=11)
    arrays = {name: value.half().numpy() for name, value in model.state_dict().items()}
    np.savez(tmp_path / "small.npz", n_heads=np.array(3), **arrays)
    ids = torch.tensor([[1, 2, 3, 4, 5]])
    with torch.no_grad():
        difference = (load_weights(tmp_path / "small.npz")(ids) - model(ids)).abs().max()
    assert difference < 0.05, "a file with 3 heads of 8 and 11 layers gives another model"


def test_sample_top_p_by_hand():
    from llama import sample_top_p

    logits = torch.tensor([[0.05, 0.4, 0.1, 0.25, 0.2]]).log().repeat(2000, 1)
    for p, kept in ((0.3, {1}), (0.5, {1, 3}), (0.7, {1, 3, 4}), (1.0, {0, 1, 2, 3, 4})):
        ids = sample_top_p(logits, p, generator=torch.Generator().manual_seed(0))
        assert ids.shape == (2000,), f"one id per row, (2000,), not {tuple(ids.shape)}"
        assert set(ids.tolist()) == kept, f"p = {p} keeps {kept}, but {set(ids.tolist())} came out"
    share = (sample_top_p(logits, 0.5, generator=torch.Generator().manual_seed(0)) == 1).float()
    assert abs(share.mean() - 0.4 / 0.65) < 0.05, "the ratio of the kept probabilities changes"


def test_sample_top_p_after_the_temperature():
    from llama import sample_top_p

    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0]]).repeat(2000, 1)
    ids = sample_top_p(logits, 0.6, 0.25, torch.Generator().manual_seed(0))
    assert set(ids.tolist()) == {3}, "at temperature 0.25, one token has more than 0.6"
    ids = sample_top_p(logits, 0.9, 100.0, torch.Generator().manual_seed(0))
    assert set(ids.tolist()) == {0, 1, 2, 3}, "at temperature 100, all tokens are needed for 0.9"


def test_sample_top_p_refuses():
    from llama import sample_top_p

    for p in (0.0, -0.25, 1.5):
        with pytest.raises(ValueError, match=str(p)):
            sample_top_p(torch.zeros(1, 3), p)
