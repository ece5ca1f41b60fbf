"""Public checks for week 12: small examples with known answers. Run them with `pytest`."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def rounded(x):
    return [round(value, 3) for value in x.flatten().tolist()]


def row(*values):
    """A sequence of one-dimensional vectors, (1, 1, T, 1)."""
    return torch.tensor(values, dtype=torch.float32).view(1, 1, -1, 1)


class Counting(TorchDispatchMode):
    """Counts operations and elements of new tensors, and records the largest tensor."""

    def __init__(self):
        super().__init__()
        self.operations = self.elements = self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not func.is_view:
            self.operations += 1
            self.elements += result.numel()
            self.largest = max(self.largest, result.numel())
        return result


def counted(call, *arguments):
    with Counting() as counting:
        call(*arguments)
    return counting


def test_feature_map_by_hand():
    from recurrent import feature_map

    answer = rounded(feature_map(torch.tensor([-2.0, -1.0, 0.0, 0.5, 3.0])))
    assert answer == [0.135, 0.368, 1.0, 1.5, 4.0], (
        f"-2, -1, 0, 0.5 and 3 become exp(-2), exp(-1), 1, 1.5 and 4, not {answer}"
    )


def test_feature_map_of_large_values():
    from recurrent import feature_map

    x = torch.tensor([-1.0, 1.0, 1000.0], requires_grad=True)
    answer = feature_map(x)
    assert rounded(answer)[2] == 1001, f"1000 becomes 1001, not {answer[2].item()}"
    answer.sum().backward()
    assert rounded(x.grad) == [0.368, 1.0, 1.0], (
        f"the gradients at -1, 1 and 1000 are exp(-1), 1 and 1, not {rounded(x.grad)}"
    )


# The features of these queries and keys are (2, 0.5), (1, 2) and (0.25, 4).
QUERY = torch.tensor([1.0, -math.log(2)])
KEYS = torch.tensor([[0.0, 1.0], [-math.log(4), 3.0]])
VALUES = torch.tensor([[1.0, 0.0, 2.0], [12.0, 11.0, 2.0]])


def test_linear_attention_by_hand():
    from recurrent import linear_attention

    first, second = linear_attention(
        QUERY.expand(1, 1, 2, 2), KEYS[None, None], VALUES[None, None]
    )[0, 0]
    assert rounded(first) == [1, 0, 2], f"the first query sees the first value only: {first}"
    assert rounded(second) == [6, 5, 2], (
        f"the weights are 3 and 2.5, so the second output is (33, 27.5, 11) / 5.5, not {second}"
    )


def test_linear_attention_keeps_the_order():
    from recurrent import linear_attention

    q, k, v = random(2, 3, 6, 4), random(2, 3, 6, 4, seed=1), random(2, 3, 6, 5, seed=2)
    whole = linear_attention(q, k, v)
    assert whole.shape == v.shape, f"outputs have the shape of v, not {tuple(whole.shape)}"
    part = linear_attention(q[:, :, :4], k[:, :, :4], v[:, :, :4])
    assert torch.allclose(whole[:, :, :4], part, atol=1e-5), "later tokens change earlier outputs"


def test_linear_attention_step_by_hand():
    from recurrent import linear_attention_step

    state = None
    for key, value, expected in zip(KEYS, VALUES, ([1, 0, 2], [6, 5, 2]), strict=True):
        output, state = linear_attention_step(
            state, QUERY[None, None], key[None, None], value[None, None]
        )
        assert rounded(output) == expected, f"the output should be {expected}, not {output}"
    products, keys = state
    assert tuple(products.shape) == (1, 1, 2, 3), f"(B, H, d_k, d_v), not {tuple(products.shape)}"
    assert rounded(products) == [4, 2.75, 2.5, 50, 44, 12], f"the sum of φ(k) vᵀ is not {products}"
    assert rounded(keys) == [1.25, 6], f"the sum of φ(k) is (1.25, 6), not {keys}"


def test_linear_attention_step_of_two_sequences():
    from recurrent import linear_attention_step

    tokens = [
        (random(1, 2, 3, seed=s), random(1, 2, 3, seed=s + 9), random(1, 2, 4, seed=s + 99))
        for s in range(3)
    ]
    _, one = linear_attention_step(None, *tokens[0])
    kept = [x.clone() for x in one]
    expected, _ = linear_attention_step(one, *tokens[2])
    linear_attention_step(None, *tokens[1])
    again, _ = linear_attention_step(tuple(kept), *tokens[2])
    assert torch.allclose(again, expected, atol=1e-5), "the output depends on another sequence"


def test_gated_linear_attention_by_hand():
    from recurrent import gated_linear_attention

    decays = torch.tensor([0.125, 0.5, 0.25, 1.0])
    ones = row(1, 1, 1, 1)
    answer = rounded(gated_linear_attention(ones, ones, row(8, 4, 2, 1), decays.log()[None, None]))
    assert answer == [8, 8, 4, 5], (
        f"8, then 8 / 2 + 4, then 8 / 4 + 2, then 4 + 1: it should not be {answer}"
    )
    q, k = random(1, 1, 1, 4), random(1, 1, 1, 4, seed=1)
    answer = rounded(gated_linear_attention(q, k, row(1), torch.zeros(1, 1, 1)))
    assert answer == rounded((q * k).sum()), f"a single output is (q · k) v, not {answer}"


def test_gated_linear_attention_head_by_head():
    from recurrent import gated_linear_attention

    ones = torch.ones(1, 2, 3, 1)
    decays = torch.tensor([[[1.0, 1.0, 1.0], [0.5, 0.1, 0.5]]])
    answer = rounded(gated_linear_attention(ones, ones, ones, decays.log()))
    assert answer == [1, 2, 3, 1, 1.1, 1.55], (
        f"head 0 counts 1, 2, 3, and head 1 forgets: 1, 1.1, 1.55; not {answer}"
    )


def test_gated_linear_attention_with_strong_decay():
    from recurrent import gated_linear_attention

    ones = row(1, 1, 1, 1)
    log_decay = torch.tensor([[[-900.0, -900.0, -900.0, math.log(0.5)]]])
    answer = rounded(gated_linear_attention(ones, ones, row(8, 4, 2, 1), log_decay))
    assert answer == [8, 4, 2, 2], (
        "the first three decays erase everything, the last one half: 8, 4, 2, then 2 / 2 + 1, "
        f"not {answer}"
    )


def test_gated_linear_attention_refuses():
    from recurrent import gated_linear_attention

    q, v = random(2, 3, 4, 5), random(2, 3, 4, 6)
    with pytest.raises(ValueError, match="7"):
        gated_linear_attention(q, q, v, torch.zeros(2, 3, 7))


def by_numbers(q, k, v, log_decay, state):
    """The recurrence for one-dimensional vectors, number by number."""
    q, k, v, log_decay = (x.flatten().tolist() for x in (q, k, v, log_decay))
    answers = []
    for i, decay in enumerate(log_decay):
        state = math.exp(decay) * state + k[i] * v[i]
        answers.append(q[i] * state)
    return answers, state


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 10, 20])
def test_chunked_linear_attention_by_numbers(chunk):
    from recurrent import chunked_linear_attention

    q, k, v = (random(1, 2, 10, 1, seed=s) for s in range(3))
    log_decay = -random(1, 2, 10, seed=3).abs()
    start = torch.tensor([3.0, -2.0]).view(1, 2, 1, 1)
    for given in (None, start):
        kept = start.clone()
        o, state = chunked_linear_attention(q, k, v, log_decay, chunk, given)
        assert torch.equal(start, kept), "the state that was passed has changed"
        for h in range(2):
            first = 0.0 if given is None else given[0, h].item()
            answers, last = by_numbers(q[:, h], k[:, h], v[:, h], log_decay[:, h], first)
            close = torch.allclose(o[0, h].flatten(), torch.tensor(answers), atol=1e-4)
            assert close, f"head {h}: outputs should be {answers}, not {o[0, h].flatten()}"
            assert abs(state[0, h].item() - last) < 1e-4, f"head {h}: the last state is not {last}"


def test_chunked_linear_attention_in_two_calls():
    from recurrent import chunked_linear_attention

    q, k, v = (random(2, 3, 11, d, seed=d) for d in (4, 4, 5))
    log_decay = -random(2, 3, 11, seed=3).abs()
    whole, end = chunked_linear_attention(q, k, v, log_decay, 4)
    assert tuple(end.shape) == (2, 3, 4, 5), f"a state is (B, H, d_k, d_v), not {tuple(end.shape)}"
    state, pieces = None, []
    for part in (slice(0, 6), slice(6, 7), slice(7, 11)):
        arguments = (x[:, :, part] for x in (q, k, v, log_decay))
        o, state = chunked_linear_attention(*arguments, 4, state)
        pieces.append(o)
    assert torch.allclose(torch.cat(pieces, dim=2), whole, atol=1e-4), (
        "the outputs of three calls differ from those of one call"
    )
    assert torch.allclose(state, end, atol=1e-4), (
        "the last state after three calls differs from that after one"
    )


def test_chunked_linear_attention_with_strong_decay():
    from recurrent import chunked_linear_attention

    q, k, v = (random(1, 1, 12, 2, seed=s) for s in range(3))
    o, state = chunked_linear_attention(q, k, v, torch.full((1, 1, 12), -300.0), 6)
    expected = (q * k).sum(-1, keepdim=True) * v
    assert torch.allclose(o, expected, atol=1e-5), (
        "if everything is forgotten, o_t is (q_t · k_t) v_t"
    )
    assert torch.isfinite(state).all(), "the state should be finite"


def test_chunked_linear_attention_trains_across_chunks():
    from recurrent import chunked_linear_attention

    q, k, v = (random(1, 1, 6, 2, seed=s).requires_grad_() for s in range(3))
    o, _ = chunked_linear_attention(q, k, v, torch.zeros(1, 1, 6), 2)
    o[0, 0, -1].sum().backward()
    assert (k.grad[0, 0, 0] != 0).any(), "the last output depends on the first key"


def chunk_costs(call, last):
    """Check what a form in chunks may cost; `last` is log_decay or beta."""

    def inputs(size, d):
        q, k, v = (random(1, 1, size, d, seed=s) / d for s in range(3))
        return q, k, v, last(torch.rand(1, 1, size))

    largest = counted(call, *inputs(512, 32), 8).largest
    assert largest < 200_000, (
        f"the largest tensor has {largest} elements for T = 512, d = 32 and chunks of 8: "
        f"T · T is {512 * 512}, and T · d · d is {512 * 32 * 32}"
    )
    few, many = (counted(call, *inputs(size, 4), 32).elements for size in (256, 1024))
    assert many < 6 * few, "four times as many tokens should take about four times the work"
    operations = counted(call, *inputs(1024, 4), 64).operations
    assert operations < 1024, f"{operations} operations for 1024 tokens in 16 chunks"


def test_chunked_linear_attention_costs():
    from recurrent import chunked_linear_attention

    chunk_costs(chunked_linear_attention, lambda x: -x)


@pytest.mark.parametrize("chunk", [0, -3])
def test_chunked_linear_attention_refuses(chunk):
    from recurrent import chunked_linear_attention

    x = random(1, 1, 4, 2)
    with pytest.raises(ValueError, match=str(chunk)):
        chunked_linear_attention(x, x, x, torch.zeros(1, 1, 4), chunk)


def delta_by_numbers(q, k, v, beta, state):
    """The delta rule for one-dimensional vectors, number by number."""
    q, k, v, beta = (x.flatten().tolist() for x in (q, k, v, beta))
    answers = []
    for i, strength in enumerate(beta):
        state += strength * k[i] * (v[i] - state * k[i])
        answers.append(q[i] * state)
    return answers, state


def check_delta(call, *rest):
    q, k, v = (random(1, 2, 10, 1, seed=s) for s in range(3))
    beta = random(1, 2, 10, seed=3).abs() / 2
    beta[0, 1, 4] = 0.0
    start = torch.tensor([3.0, -2.0]).view(1, 2, 1, 1)
    for given in (None, start):
        kept = start.clone()
        o, state = call(q, k, v, beta, *rest, state=given)
        assert torch.equal(start, kept), "the state that was passed has changed"
        for h in range(2):
            first = 0.0 if given is None else given[0, h].item()
            answers, last = delta_by_numbers(q[:, h], k[:, h], v[:, h], beta[:, h], first)
            close = torch.allclose(o[0, h].flatten(), torch.tensor(answers), atol=1e-4)
            assert close, f"head {h}: outputs should be {answers}, not {o[0, h].flatten()}"
            assert abs(state[0, h].item() - last) < 1e-4, f"head {h}: the last state is not {last}"


def test_delta_rule_by_hand():
    from recurrent import delta_rule

    k = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])[None, None]
    v = torch.tensor([[4.0, 2.0, 1.0], [7.0, 7.0, 7.0], [0.0, 6.0, 1.0]])[None, None]
    o, state = delta_rule(k, k, v, torch.tensor([[[1.0, 1.0, 0.5]]]))
    assert rounded(o[0, 0, :2]) == rounded(v[0, 0, :2]), f"new keys answer with their values: {o}"
    assert rounded(o[0, 0, 2]) == [2, 4, 1], (
        "the first key is written again with beta 0.5: halfway from (4, 2, 1) to (0, 6, 1), "
        f"not {o[0, 0, 2]}"
    )
    assert rounded(state) == [2, 4, 1, 7, 7, 7], f"rows of the state belong to keys: {state}"


def test_delta_rule_by_numbers():
    from recurrent import delta_rule

    check_delta(delta_rule)


def test_delta_rule_trains_through_its_state():
    from recurrent import delta_rule

    q, v = random(1, 1, 3, 1), random(1, 1, 3, 1, seed=2)
    k = torch.ones(1, 1, 3, 1, requires_grad=True)
    o, _ = delta_rule(q, k, v, torch.full((1, 1, 3), 0.5))
    o[0, 0, -1].sum().backward()
    h = 1e-3
    numbers = []
    for step in (h, -h):
        moved = [1 + step, 1.0, 1.0]
        answers, _ = delta_by_numbers(q, torch.tensor(moved), v, torch.full((3,), 0.5), 0.0)
        numbers.append(answers[-1])
    slope = (numbers[0] - numbers[1]) / (2 * h)
    assert abs(k.grad[0, 0, 0].item() - slope) < 1e-2, "the gradient of the first key is wrong"


def test_delta_rule_refuses():
    from recurrent import delta_rule

    q, v = random(2, 3, 4, 5), random(2, 3, 4, 6)
    with pytest.raises(ValueError, match="7"):
        delta_rule(q, q, v, torch.ones(2, 3, 7))


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 10, 20])
def test_delta_rule_chunked_by_numbers(chunk):
    from recurrent import delta_rule_chunked

    check_delta(delta_rule_chunked, chunk)


def test_delta_rule_chunked_in_two_calls():
    from recurrent import delta_rule_chunked

    q, k, v = (random(2, 3, 11, d, seed=d) / 3 for d in (4, 4, 5))
    beta = torch.rand(2, 3, 11, generator=torch.Generator().manual_seed(0))
    whole, end = delta_rule_chunked(q, k, v, beta, 4)
    assert tuple(end.shape) == (2, 3, 4, 5), f"a state is (B, H, d_k, d_v), not {tuple(end.shape)}"
    state, pieces = None, []
    for part in (slice(0, 6), slice(6, 7), slice(7, 11)):
        arguments = (x[:, :, part] for x in (q, k, v, beta))
        o, state = delta_rule_chunked(*arguments, 4, state)
        pieces.append(o)
    assert torch.allclose(torch.cat(pieces, dim=2), whole, atol=1e-4), (
        "the outputs of three calls differ from those of one call"
    )
    assert torch.allclose(state, end, atol=1e-4), (
        "the last state after three calls differs from that after one"
    )


def test_delta_rule_chunked_trains_across_chunks():
    from recurrent import delta_rule_chunked

    q, k, v = (random(1, 1, 6, 2, seed=s).requires_grad_() for s in range(3))
    o, _ = delta_rule_chunked(q, k, v, torch.full((1, 1, 6), 0.3), 2)
    o[0, 0, -1].sum().backward()
    assert (k.grad[0, 0, 0] != 0).any(), "the last output depends on the first key"


def test_delta_rule_chunked_costs():
    from recurrent import delta_rule_chunked

    chunk_costs(delta_rule_chunked, lambda x: x)


@pytest.mark.parametrize("chunk", [0, -3])
def test_delta_rule_chunked_refuses(chunk):
    from recurrent import delta_rule_chunked

    x = random(1, 1, 4, 2)
    with pytest.raises(ValueError, match=str(chunk)):
        delta_rule_chunked(x, x, x, torch.zeros(1, 1, 4), chunk)


def attention(d_model=8, n_heads=2):
    """A layer whose gates differ."""
    from recurrent import RecurrentAttention

    torch.manual_seed(0)
    layer = RecurrentAttention(d_model, n_heads)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(4)
    return layer


def test_RecurrentAttention_has_its_parameters():
    shapes = {name: tuple(value.shape) for name, value in attention().state_dict().items()}
    expected = {f"W_{name}.weight": (8, 8) for name in "qkvo"}
    expected |= {"W_g.weight": (2, 8), "W_g.bias": (2,)}
    assert shapes == expected, f"the parameters should be {expected}, not {shapes}"


def test_RecurrentAttention_position_by_position():
    layer, x = attention(), random(1, 5, 8)
    with torch.no_grad():
        o, last = layer(x)
        memory = [torch.zeros(4, 4), torch.zeros(4, 4)]
        for position, vector in enumerate(x[0]):
            heads = []
            for h in range(2):
                features = slice(4 * h, 4 * h + 4)
                q, k, v = (w(vector)[features] for w in (layer.W_q, layer.W_k, layer.W_v))
                gate = 1 / (1 + math.exp(-layer.W_g(vector)[h].item()))
                memory[h] = gate ** (1 / 16) * memory[h] + torch.outer(k, v)
                head = q @ memory[h]
                heads.append(head / (head.pow(2).mean() + 1e-5).sqrt())
            expected = layer.W_o(torch.cat(heads))
            assert torch.allclose(o[0, position], expected, atol=1e-3), (
                f"position {position}: y should be {expected}, not {o[0, position]}"
            )
    assert tuple(last.shape) == (1, 2, 4, 4), f"a state is (B, H, d, d), not {tuple(last.shape)}"
    assert torch.allclose(last[0], torch.stack(memory), atol=1e-4), "the last state is wrong"


def test_RecurrentAttention_in_pieces():
    layer, x, other = attention(), random(2, 9, 8), random(2, 4, 8, seed=1)
    with torch.no_grad():
        whole, end = layer(x)
        for sizes in ((9,), (4, 1, 1, 3), (2, 7)):
            state, pieces = None, []
            for piece in x.split(sizes, dim=1):
                y, state = layer(piece, state)
                layer(other, torch.zeros_like(state))
                pieces.append(y)
            same = torch.allclose(torch.cat(pieces, dim=1), whole, atol=1e-3)
            assert same, f"in chunks of {sizes}, outputs differ"
            assert torch.allclose(state, end, atol=1e-3), f"in chunks of {sizes}, the state differs"


def test_RecurrentAttention_costs():
    layer = attention()
    largest = counted(layer, random(1, 1024, 8)).largest
    assert largest < 1024 * 1024, f"the largest tensor has {largest} elements for 1024 positions"
    with torch.no_grad():
        _, state = layer(random(1, 3, 8))
        few = counted(layer, random(1, 1, 8), state).elements
        _, state = layer(random(1, 300, 8), state)
        for _ in range(3):
            _, state = layer(random(1, 1, 8), state)
        many = counted(layer, random(1, 1, 8), state).elements
    assert many <= few, "a token after 300 others takes more work than one after 3"


def test_RecurrentAttention_trains_its_gate():
    layer = attention()
    layer(random(1, 6, 8))[0].square().sum().backward()
    for name, parameter in layer.named_parameters():
        trained = parameter.grad is not None and bool(parameter.grad.any())
        assert trained, f"{name} has no gradient"


def test_RecurrentAttention_refuses():
    from recurrent import RecurrentAttention

    with pytest.raises(ValueError, match="14"):
        RecurrentAttention(14, 4)
