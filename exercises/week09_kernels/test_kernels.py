"""Public checks for week 9: small examples with known answers. Run them with `pytest`.

They need Triton, which there is for Linux: `pip install triton`. Without it they are skipped. On a
machine with a GPU your kernels are compiled and run there, else Triton's interpreter runs them.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

os.environ.setdefault("TRITON_INTERPRET", "0" if torch.cuda.is_available() else "1")
DEVICE = "cpu" if os.environ["TRITON_INTERPRET"] == "1" else "cuda"


@pytest.fixture(autouse=True)
def triton():
    return pytest.importorskip(
        "triton", reason="triton is not installed: on Linux, pip install triton"
    )


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def near(answer, expected, said, within=1e-5):
    assert isinstance(answer, torch.Tensor), f"a tensor, not {type(answer).__name__}"
    assert answer.shape == expected.shape, (
        f"the shape should be {tuple(expected.shape)}, not {tuple(answer.shape)}"
    )
    assert answer.dtype == expected.dtype, f"{expected.dtype}, not {answer.dtype}"
    assert torch.allclose(answer, expected, rtol=within, atol=within), said


class Outside(TorchDispatchMode):
    """Records the arithmetic that torch does around a kernel, and the size of its largest tensor."""

    ARITHMETIC = ("max", "sum", "exp", "log", "div", "mul", "add", "sub", "mm", "bmm", "where")

    def __init__(self):
        super().__init__()
        self.arithmetic, self.elements = [], 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        name = operation.__name__.partition(".")[0].removesuffix("_")
        if any(part in name for part in self.ARITHMETIC) and result.is_floating_point():
            self.arithmetic.append(name)
        made = isinstance(result, torch.Tensor) and result.is_floating_point()
        if made and not operation.is_view:
            self.elements = max(self.elements, result.numel())
        return result


def in_kernels(function, *args, **kwargs):
    """Call the function, and check that torch does no arithmetic around its kernels."""
    with Outside() as outside:
        result = function(*args, **kwargs)
    assert not outside.arithmetic, (
        f"torch computes {', '.join(outside.arithmetic)} outside the kernel: do it in the kernel"
    )
    return result, outside.elements


def test_softmax_rows_by_hand():
    from kernels import softmax_rows

    x = torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0]], device=DEVICE)
    answer = softmax_rows(x)
    expected = [[0.25, 0.25, 0.25, 0.25], [0.032059, 0.087144, 0.236883, 0.643914]]
    said = f"the weights should be {expected}, not {answer.tolist()}"
    near(answer, torch.tensor(expected, device=DEVICE), said)


def test_softmax_rows_that_do_not_fill_a_block():
    from kernels import softmax_rows

    x = torch.full((2, 5), -30.0, device=DEVICE)
    answer = softmax_rows(x)
    near(answer, torch.full_like(x, 0.2), f"five equal scores get 0.2 each, not {answer.tolist()}")


def test_softmax_rows_of_a_view():
    from kernels import softmax_rows

    x = random(6, 5).T
    near(softmax_rows(x), x.softmax(-1), "a transposed matrix: go by its strides")


def test_softmax_rows_of_long_rows_and_large_scores():
    from kernels import softmax_rows

    x = random(2, 1500)
    x[0] += 300.0
    answer, _ = in_kernels(softmax_rows, x)
    near(answer, x.softmax(-1), "rows of 1500 scores, one of them near 300, are wrong")


def test_matmul_by_hand():
    from kernels import matmul

    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE)
    b = torch.tensor([[1.0, 0.0, 10.0], [0.0, 1.0, 10.0]], device=DEVICE)
    expected = torch.tensor([[1.0, 2.0, 30.0], [3.0, 4.0, 70.0]], device=DEVICE)
    answer = matmul(a, b)
    said = f"the product should be {expected.tolist()}, not {answer.tolist()}"
    near(answer, expected, said)


def test_matmul_in_tiles():
    from kernels import matmul

    for M, K, N in ((32, 32, 32), (20, 32, 16), (16, 32, 20), (16, 20, 16)):
        a, b = random(M, K), random(K, N, seed=1)
        near(matmul(a, b), a @ b, f"({M}, {K}) times ({K}, {N}) is wrong", 1e-4)


def test_matmul_of_many_tiles_and_views():
    from kernels import matmul

    a, b = random(272, 16), random(16, 16, seed=1)
    answer, _ = in_kernels(matmul, a, b)
    near(answer, a @ b, "272 rows need 17 tiles of 16", 1e-4)
    a, b = random(20, 18, seed=2).T, random(17, 20, seed=3).T
    near(matmul(a, b), a @ b, "transposed matrices: use their strides", 1e-4)


def test_matmul_of_float16_is_float32():
    from kernels import matmul

    a, b = random(5, 40).half(), random(40, 7, seed=1).half()
    near(matmul(a, b), a.float() @ b.float(), "the sums should run in float32", 1e-4)


def test_logsumexp_rows_by_hand():
    from kernels import logsumexp_rows

    x = torch.zeros(2, 40, device=DEVICE)
    x[1] = 100.0
    expected = torch.tensor([3.688879, 103.688879], device=DEVICE)  # the logarithm of 40
    answer = logsumexp_rows(x, block=16)
    near(answer, expected, f"log 40 and 100 + log 40 are expected, not {answer.tolist()}")


def test_logsumexp_rows_that_rise():
    from kernels import logsumexp_rows

    x = torch.stack([torch.linspace(-60.0, 60.0, 100), torch.linspace(-90.0, -80.0, 100)])
    view = x.to(DEVICE).T.contiguous().T  # the same numbers, with other strides
    answer, _ = in_kernels(logsumexp_rows, view, block=16)
    near(answer, view.logsumexp(-1), "rows that rise: is the old sum rescaled to the new maximum?")


def test_logsumexp_rows_that_begin_with_nothing():
    from kernels import logsumexp_rows

    x = random(2, 40)
    x[0, :20] = -torch.inf
    x[1] = -torch.inf
    answer = logsumexp_rows(x, block=16)
    expected = x.logsumexp(-1)
    near(answer, expected, f"{expected.tolist()} is expected, not {answer.tolist()}")


def test_flash_forward_by_hand():
    from kernels import flash_forward

    q, k = torch.zeros(2, 16, device=DEVICE), torch.zeros(3, 16, device=DEVICE)
    v = torch.tensor([1.0, 2.0, 6.0], device=DEVICE)[:, None].expand(3, 16)
    output, logsumexp = flash_forward(q, k, v)
    near(
        output, torch.full((2, 16), 3.0, device=DEVICE), "equal scores give the mean of the values"
    )
    near(logsumexp.float(), torch.full((2,), 1.098612, device=DEVICE), "the logarithm of 3 keys")


def test_flash_forward_keeps_no_scores():
    from kernels import flash_forward

    n, m = 272, 128
    q, k, v = 20 * random(n, 16), random(m, 16, seed=1), random(m, 16, seed=2)
    (output, logsumexp), elements = in_kernels(flash_forward, q, k, v, block_m=32, block_n=16)
    scores = q @ k.T / 4
    near(output, scores.softmax(-1) @ v, "272 queries in tiles of 32, 128 keys in tiles of 16", 1e-4)
    near(logsumexp.float(), scores.logsumexp(-1), "the logsumexp of large scores is wrong", 1e-4)
    assert elements <= 3 * n * 16, (
        f"the output has {n * 16} numbers, but you make a tensor of {elements} "
        f"(all scores would be {n * m})"
    )


def test_flash_forward_in_tiles():
    from kernels import flash_forward

    for n, m, causal in ((32, 32, False), (20, 37, False), (37, 37, True), (20, 9, True)):
        q, k, v = random(n, 16), random(m, 16, seed=1), random(m, 16, seed=2)
        scores = q @ k.T / 4
        if causal:
            seen = torch.ones(n, m, dtype=torch.bool, device=DEVICE).tril()
            scores = scores.masked_fill(~seen, -torch.inf)
        output, logsumexp = flash_forward(q, k, v, causal)
        said = f"{n} queries, {m} keys, causal={causal}"
        near(output, scores.softmax(-1) @ v, f"{said}: the output is wrong", 1e-4)
        near(logsumexp.float(), scores.logsumexp(-1), f"{said}: the logsumexp is wrong", 1e-4)


def test_flash_forward_of_a_trained_head():
    from kernels import flash_forward

    with np.load(Path(__file__).with_name("model") / "layer.npz") as file:
        q, k, v, recorded = (
            torch.tensor(file[name][0, 0], device=DEVICE) for name in ("q", "k", "v", "output")
        )
    output, _ = flash_forward(q, k, v, causal=True)
    near(output, recorded, "the output differs from that of a head of a trained model", 1e-4)
