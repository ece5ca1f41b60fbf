"""Public checks for week 8: small examples with known answers. Run them with `pytest`."""

import pytest
import torch


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_cache_bytes_by_hand():
    from serving import cache_bytes

    answer = cache_bytes(n_layers=1, n_kv_heads=1, d=4, length=10)
    assert answer == 160, f"10 positions of 4 numbers, keys and values, 2 bytes each: not {answer}"
    answer = cache_bytes(32, 8, 128, 8192, dtype=torch.bfloat16)
    assert answer == 2**30, f"that of a model with 8 billion weights is exactly 1 GiB, not {answer}"
    assert type(answer) is int, f"an int, not {type(answer).__name__}"


def test_KVCache_gives_back_everything_so_far():
    from serving import KVCache

    cache = KVCache(batch=1, n_kv_heads=1, max_len=5, d=1)
    assert cache.length == 0, f"a new cache has length 0, not {cache.length}"
    for numbers, so_far in (([1, 2, 3], [1, 2, 3]), ([4], [1, 2, 3, 4]), ([5], [1, 2, 3, 4, 5])):
        k = torch.tensor(numbers, dtype=torch.float32).view(1, 1, -1, 1)
        keys, values = cache.append(k, 10 * k)
        assert keys.flatten().tolist() == so_far, f"after {numbers} the keys should be {so_far}"
        assert values.flatten().tolist() == [10 * x for x in so_far], "the values go with the keys"
        assert cache.length == len(so_far), f"length should be {len(so_far)}, not {cache.length}"


def test_KVCache_gives_views():
    from serving import KVCache

    cache = KVCache(2, 3, 8, 4)
    first, _ = cache.append(random(2, 3, 5, 4), random(2, 3, 5, 4))
    second, _ = cache.append(random(2, 3, 1, 4), random(2, 3, 1, 4))
    assert first.data_ptr() == second.data_ptr(), (
        "both results should begin at the same place in memory: are the old keys copied?"
    )


def test_KVCache_refuses_what_does_not_fit():
    from serving import KVCache

    cache = KVCache(1, 1, 4, 2)
    cache.append(random(1, 1, 3, 2), random(1, 1, 3, 2))
    with pytest.raises(ValueError, match=r"2|5"):
        cache.append(random(1, 1, 2, 2), random(1, 1, 2, 2))
    assert cache.length == 3, f"a refused append leaves length at 3, not {cache.length}"


def test_grouped_query_attention_shares_heads():
    from serving import grouped_query_attention

    # All scores are 0, so each query gets the mean of the values of its key-value head.
    q, k = torch.zeros(1, 4, 1, 2), torch.zeros(1, 2, 3, 2)
    v = torch.tensor([1.0, 100.0]).view(1, 2, 1, 1).expand(1, 2, 3, 1)
    output, weights = grouped_query_attention(q, k, v)
    assert weights.shape == (1, 4, 1, 3), f"weights are (B, H, n, m), not {tuple(weights.shape)}"
    answer = [round(x) for x in output.flatten().tolist()]
    assert answer == [1, 1, 100, 100], (
        f"heads 0 and 1 share the first head, 2 and 3 the second, but the outputs are {answer}"
    )


def test_grouped_query_attention_against_copied_keys():
    from serving import grouped_query_attention

    q, k, v = random(2, 6, 4, 8), random(2, 2, 5, 8, seed=1), random(2, 2, 5, 3, seed=2)
    mask = torch.ones(4, 5, dtype=torch.bool).tril()
    output, weights = grouped_query_attention(q, k, v, mask)
    scores = q @ k.repeat_interleave(3, dim=1).mT / 8**0.5
    expected = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    assert torch.allclose(weights, expected, atol=1e-6), "the weights of some head are not right"
    expected = expected @ v.repeat_interleave(3, dim=1)
    assert torch.allclose(output, expected, atol=1e-6), "the output of some head is not right"


def test_grouped_query_attention_refuses_uneven_groups():
    from serving import grouped_query_attention

    with pytest.raises(ValueError, match=r"5|2"):
        grouped_query_attention(random(1, 5, 1, 4), random(1, 2, 3, 4), random(1, 2, 3, 4))


class Joining:
    """A cache that joins: slow, and independent of yours."""

    def __init__(self):
        self.length, self.both = 0, None

    def append(self, k, v):
        new = torch.stack([k, v])
        self.both = new if self.both is None else torch.cat([self.both, new], dim=3)
        self.length = self.both.shape[3]
        return self.both[0], self.both[1]


def test_GroupedQueryAttention_has_small_projections():
    from serving import GroupedQueryAttention

    module = GroupedQueryAttention(d_model=12, n_heads=6, n_kv_heads=2)
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    expected = {"W_q": (12, 12), "W_k": (4, 12), "W_v": (4, 12), "W_o": (12, 12)}
    expected = {f"{name}.weight": shape for name, shape in expected.items()}
    assert shapes == expected, f"the parameters should be {expected}, not {shapes}"


def test_GroupedQueryAttention_in_pieces():
    from serving import GroupedQueryAttention

    torch.manual_seed(0)
    module, x = GroupedQueryAttention(12, 6, 2), random(2, 7, 12)
    whole = module(x)
    assert whole.shape == x.shape, f"(B, s, C) in, (B, s, C) out, not {tuple(whole.shape)}"
    for sizes in ((7,), (4, 1, 1, 1), (2, 3, 2)):
        cache = Joining()
        pieces = torch.cat([module(piece, cache) for piece in x.split(sizes, dim=1)], dim=1)
        assert cache.length == 7, f"in pieces of {sizes} the cache should end with 7 positions"
        worst = int((pieces - whole).abs().amax((0, 2)).argmax())
        assert torch.allclose(pieces, whole, atol=1e-5), (
            f"in pieces of {sizes} the outputs differ, most at position {worst}"
        )


def test_sliding_window_mask_by_hand():
    from serving import sliding_window_mask

    def drawn(mask):
        return ["".join("x" if seen else "." for seen in row) for row in mask.tolist()]

    answer = drawn(sliding_window_mask(5, 5, 2))
    assert answer == ["x....", "xx...", ".xx..", "..xx.", "...xx"], answer
    answer = drawn(sliding_window_mask(5, 5, 2, sinks=1))
    assert answer == ["x....", "xx...", "xxx..", "x.xx.", "x..xx"], answer
    answer = drawn(sliding_window_mask(1, 5, 2, sinks=1, offset=4))
    assert answer == ["x..xx"], f"the query stands at position 4, and sees {answer}"


class Counting(torch.nn.Module):
    """The next token is (the sum of all tokens so far) mod 10. It notes what it is fed."""

    def __init__(self):
        super().__init__()
        self.fed, self.asked = [], []

    def new_caches(self, batch, max_len):
        self.asked.append((batch, max_len))
        return [torch.zeros(batch, dtype=torch.long)]

    def forward(self, ids, caches):
        self.fed.append(ids.shape[1])
        sums = caches[0][:, None] + ids.cumsum(1)
        caches[0] += ids.sum(1)
        return torch.nn.functional.one_hot(sums % 10, 10).float()


def test_generate_cached_feeds_each_token_once():
    from serving import generate_cached

    model = Counting()
    ids = generate_cached(model, torch.tensor([[1, 2, 3], [0, 0, 4]]), 3)
    expected = [[1, 2, 3, 6, 2, 4], [0, 0, 4, 4, 8, 6]]
    assert ids.tolist() == expected, (
        f"each new token should be the most likely one: {expected}, not {ids.tolist()}"
    )
    assert model.fed[:3] == [3, 1, 1], f"the prompt at once, then one at a time, not {model.fed}"
    assert len(model.asked) == 1, f"caches are made once, not {len(model.asked)} times"
    assert model.training, "the model was in training mode, and should be so afterwards"


def test_PagedCache_takes_and_gives_back():
    from serving import PagedCache

    cache = PagedCache(num_pages=4, page_size=2, n_kv_heads=1, d=1)
    numbers = torch.arange(10.0)
    for seq, part, free in (("a", (0, 3), 2), ("b", (5, 6), 1), ("a", (3, 4), 1), ("a", (4, 5), 0)):
        k = numbers[slice(*part)].view(1, -1, 1)
        cache.append(seq, k, -k)
        assert cache.free_pages == free, (
            f"after positions {part} of {seq}, {free} pages are free, not {cache.free_pages}"
        )
    keys, values = cache.gather("a")
    assert keys.flatten().tolist() == [0, 1, 2, 3, 4], (
        f"all keys of a in order are 0, 1, 2, 3, 4, not {keys.flatten().tolist()}"
    )
    assert torch.equal(values, -keys), "the values go with the keys"
    with pytest.raises(ValueError, match=r"\d"):
        cache.append("b", numbers[:2].view(1, 2, 1), numbers[:2].view(1, 2, 1))
    cache.free("a")
    assert cache.free_pages == 3, f"a gave three pages back; 3 are free, not {cache.free_pages}"
    assert cache.gather("b")[0].flatten().tolist() == [5], "b keeps what it has"
    cache.append("b", numbers[6:9].view(1, 3, 1), numbers[6:9].view(1, 3, 1))
    again = cache.gather("b")[0].flatten().tolist()
    assert again == [5, 6, 7, 8], f"b goes on in pages that a gave back: not {again}"


def test_speculative_step_by_hand():
    from serving import speculative_step

    p = torch.tensor([[0.2, 0.8, 0.0], [0.1, 0.1, 0.8]])
    q = torch.tensor([[0.8, 0.1, 0.1]])
    kept = speculative_step(torch.tensor([0]), p, q, torch.tensor([0.2, 0.5]))
    assert kept == (1, 2), f"0.2 < 0.2/0.8: kept, and 0.5 draws token 2 from the last row: {kept}"
    refused = speculative_step(torch.tensor([0]), p, q, torch.tensor([0.3, 0.1]))
    assert refused == (0, 1), f"0.3 is too much; only token 1 has more in p than in q: {refused}"
    empty = speculative_step(torch.tensor([], dtype=torch.long), p[:1], q[:0], torch.tensor([0.1]))
    assert empty == (0, 0), f"without a draft the token comes from p: {empty}"
