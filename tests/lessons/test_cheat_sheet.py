"""The cheat sheet of week 8 states the counted cost of the course's solutions."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from autograder.model.course import load

COURSE = load(Path(__file__).resolve().parents[2])
D = 16


class Made(TorchDispatchMode):
    """Notes the elements of the largest new tensor."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(one, torch.Tensor) and not func.is_view:
                self.elements = max(self.elements, one.numel())
        return result


@cache
def solution(number: int) -> ModuleType:
    path = COURSE.solution(COURSE.weeks[number - 1])
    spec = importlib.util.spec_from_file_location(f"solved_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def sheet() -> dict[str, list[str]]:
    """The cells of the table by its first word."""
    lesson = (COURSE.exercise_folder(COURSE.weeks[7]) / "lesson.md").read_text(encoding="utf-8")
    table = lesson.split("## A cheat sheet")[1].split("\n\n")[2]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.split("\n")[2:]]
    return {row[0].split()[0].strip(":"): row for row in rows}


def qkv(n: int, grad: bool = False) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(n)
    return [torch.randn(n, D, generator=generator, requires_grad=grad) for _ in range(3)]


def full(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return solution(1).scaled_dot_product_attention(q, k, v)[0]


def cost(run: Any, *inputs: Any) -> tuple[int, int]:
    """Multiplications and additions in matrix products, and the largest tensor made."""
    with FlopCounterMode(display=False) as work, Made() as made:
        run(*inputs)
    return work.get_total_flops(), made.elements


@pytest.mark.parametrize("n", [32, 128])
def test_full_attention(n: int) -> None:
    assert sheet()["full"][1:4] == ["$n^2 d$", "$n^2$", "yes"]
    assert cost(full, *qkv(n)) == (4 * n * n * D, n * n)


def test_flash_attention_works_as_much_and_half_as_much_again_backward() -> None:
    assert "half of the forward work again" in sheet()["FlashAttention"][1]
    flash = solution(7).FlashAttention

    def there_and_back(run: Any) -> int:
        inputs = qkv(128, grad=True)
        return cost(lambda: run(*inputs).sum().backward())[0]

    forward = cost(full, *qkv(128))[0]
    tiled, made = cost(solution(7).tiled_attention, *qkv(128), 16)
    assert (tiled, made) == (forward, 128 * 16)
    again = there_and_back(lambda *x: flash.apply(*x, 16, False)) - there_and_back(full)
    assert again == forward // 2


@pytest.mark.parametrize("n", [128, 256])
def test_lsh_attention(n: int) -> None:
    assert sheet()["LSH"][1:3] == ["$2\\,r\\,b\\,n\\,d$, and a sort", "$2\\,r\\,b\\,n$"]
    rounds, chunk, buckets = 2, 8, 4
    rotations = torch.randn(rounds, D, buckets // 2, generator=torch.Generator().manual_seed(1))
    qk, _, v = qkv(n)
    work, _ = cost(solution(4).lsh_attention, qk, v, rotations, chunk)
    hashing = 2 * rounds * n * D * (buckets // 2)
    assert work - hashing == 4 * (2 * rounds * chunk * n * D)  # two products, as n² d above
    scores = 2 * rounds * chunk * n
    assert solution(4).attention_memory(n, "lsh", chunk, rounds, 1) == scores


def test_performer() -> None:
    assert sheet()["Performer"][1:3] == ["$n\\,r\\,d$", "none; $n\\,r$ features instead"]
    generator = torch.Generator().manual_seed(2)

    def work(n: int, r: int) -> tuple[int, int]:
        projection = torch.randn(r, D, generator=generator)
        return cost(solution(6).performer_attention, *qkv(n), projection)

    (base, made), (longer, _), (more, _) = work(128, 32), work(256, 32), work(128, 64)
    assert (longer, more, made) == (2 * base, 2 * base, 128 * 32)


def test_a_new_token_with_a_cache() -> None:
    assert sheet()["a"][1:3] == ["$n\\,d$", "$n$"]
    q, k, v = torch.randn(1, 1, 1, D), *torch.randn(2, 1, 1, 100, D)
    work, made = cost(solution(8).grouped_query_attention, q, k, v)
    assert (work, made) == (4 * 100 * D, 100)


def test_what_a_cache_keeps() -> None:
    lesson = (COURSE.exercise_folder(COURSE.weeks[7]) / "lesson.md").read_text(encoding="utf-8")
    assert "A cache stores $2\\,H_{kv}\\,d$ numbers for each layer and token" in lesson
    assert solution(8).cache_bytes(1, 3, D, 1, dtype=torch.int8) == 2 * 3 * D
