"""Check the numbers in the alternative texts against the pictures."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.lessons.figure_contents import PROJECT, recorded

_ALT = re.compile(r"!\[([^\]]*)\]\(figures/(\w+)\.\w+\)")
WEEKS = {f"week{int(w.name[4:6])}": w for w in PROJECT.weeks}


@cache
def record(week: str) -> dict[str, Any]:
    return recorded(WEEKS[week])


def alt(week: str, stem: str) -> str:
    """Return the alternative text of a picture in the lesson."""
    lesson = (PROJECT.exercise_folder(WEEKS[week]) / "lesson.md").read_text(encoding="utf-8")
    return {name: text for text, name in _ALT.findall(lesson)}[stem]


def numbers(week: str, stem: str, pattern: str) -> list[float]:
    """The numbers that the text gives in this place."""
    found = re.search(pattern, alt(week, stem))
    assert found, f"{pattern!r} is not in {alt(week, stem)!r}"
    return [float(n.rstrip(".")) for n in found.groups()]


def shown(week: str, stem: str, part: str) -> np.ndarray:
    """Return the contents of a part of the picture, complete or sampled."""
    kept = record(week)[stem]["numbers"][part]
    values = np.array([np.nan if v is None else v for v in kept["values"]], dtype=float)
    return values.reshape(kept["shape"]) if values.size == np.prod(kept["shape"]) else values


def line(week: str, stem: str, number: int, panel: int = 1) -> tuple[np.ndarray, np.ndarray]:
    part = f"panel {panel}, line {number}"
    return shown(week, stem, f"{part} x"), shown(week, stem, f"{part} y")


def slopes(week: str, stem: str, number: int, panel: int = 1) -> np.ndarray:
    x, y = line(week, stem, number, panel)
    return np.diff(np.log(y)) / np.diff(np.log(x))


# Week 1


def test_shapes_of_the_flow_are_those_of_tensors() -> None:
    words = " ".join(record("week3")["shape_flow"]["words"])
    for shape in re.findall(r"\(\d+(?:, \d+)+\)", alt("week3", "shape_flow")):
        assert shape in words


def test_mat_looks_at_on() -> None:
    weights = shown("week1", "six_tokens", "panel 1, image 1")
    (said,) = numbers("week1", "six_tokens", r"darkest cell, ([\d.]+),")
    assert weights.max().round(2) == said
    assert np.unravel_index(weights.argmax(), weights.shape) == (5, 3)  # mat, on


def test_three_temperatures() -> None:
    said = numbers(
        "week1", "temperature", r"takes ([\d.]+), at 1 .*? ([\d.]+), .*? ([\d.]+) and ([\d.]+)"
    )
    bars = [
        [shown("week1", "temperature", f"panel {p}, shape {b}")[3] for b in range(1, 6)]
        for p in (1, 2, 3)
    ]
    assert np.round([max(bars[0]), max(bars[1]), min(bars[2]), max(bars[2])], 2).tolist() == said


def test_the_gradient_without_the_scale() -> None:
    kept, lost, d = numbers(
        "week1", "why_root_d", r"stays at ([\d.]+) .*? to (\d) millionths at d = (\d+)"
    )
    x, scaled = line("week1", "why_root_d", 1, panel=2)
    _, raw = line("week1", "why_root_d", 2, panel=2)
    assert x[-1] == d
    assert scaled.round(1).tolist() == [kept] * len(scaled)
    assert round(raw[-1] * 1e6) == lost


def test_eight_times_of_the_day() -> None:
    assert "Eight dots" in alt("week1", "soft_lookup")
    assert len(line("week1", "soft_lookup", 1)[0]) == 8


def test_on_in_two_sentences() -> None:
    said = numbers(
        "week1", "two_sentences", r'gives ([\d.]+) to "the" and ([\d.]+) .*? ([\d.]+) and ([\d.]+)'
    )
    panels = [shown("week1", "two_sentences", f"panel {p}, image 1") for p in (1, 2)]
    assert [w.round(2) for p in panels for w in (p[3, 4], p[3, 3])] == said


def test_the_sentence_below_the_heatmap_says_what_on_looks_at() -> None:
    lesson = (PROJECT.exercise_folder(WEEKS["week1"]) / "lesson.md").read_text(encoding="utf-8")
    said = re.search(r"\*on\* gives ([\d.]+) of its attention to \*cat\*", lesson)
    assert said is not None
    assert shown("week1", "six_tokens", "panel 1, image 1")[3, 1].round(2) == float(said[1])


def test_the_look_up_of_sat() -> None:
    said = numbers("week1", "look_up", r"the weights ([\d.]+), ([\d.]+), ([\d.]+) and ([\d.]+);")
    words = record("week1")["look_up"]["words"]
    assert [words.count(f"{w:.2f}") >= said.count(w) for w in said] == [True] * 4
    assert sum(said) == pytest.approx(1, abs=0.02)


# Week 2


def test_an_empty_row_three_times() -> None:
    rows = [shown("week2", "empty_row", f"panel {p}, image 1")[1] for p in (1, 2, 3)]
    assert "a quarter each under -1e9, and zeros under masked_softmax" in alt("week2", "empty_row")
    assert rows[1].tolist() == [0.25] * 4
    assert rows[2].tolist() == [0] * 4
    assert record("week2")["empty_row"]["words"].count("nan") == 4


# Week 3


def test_trained_heads_look_one_two_and_four_places_back() -> None:
    lags = set()
    for panel in (4, 5, 6):
        part = record("week3")["trained_heads"]["numbers"][f"panel {panel}, image 1"]
        size = part["shape"][0]
        # a diagonal among the samples: cells of the last rows with nearly all of the weight
        places = np.linspace(0, size * size - 1, len(part["values"])).astype(int)
        dark = [divmod(p, size) for p, v in zip(places, part["values"], strict=True) if v > 0.9]
        lags |= {row - column for row, column in dark if row >= 4}
    assert lags == set(numbers("week3", "trained_heads", r"diagonals (\d), (\d) and (\d) places"))


# Week 4


def test_the_curves_of_memory_cross_where_it_says() -> None:
    said = numbers("week4", "memory", r"cross it at (\d+), (\d+) and (\d+) positions")
    x, full = line("week4", "memory", 1)
    crossings = []
    for number in (2, 4, 6):  # each followed by the square on its crossing
        _, lsh = line("week4", "memory", number)
        (place,), (height,) = line("week4", "memory", number + 1)
        assert np.interp(place, x, full) == pytest.approx(height)
        assert np.interp(place, x, lsh) == pytest.approx(height)
        crossings.append(place)
    assert crossings == said
    assert slopes("week4", "memory", 1) == pytest.approx(2, abs=1e-3)
    assert slopes("week4", "memory", 2) == pytest.approx(1, abs=1e-3)


def test_the_stars_are_parted_in_round_1_alone() -> None:
    titles = [w for w in record("week4")["circle"]["words"] if w.startswith("round")]
    assert "in different buckets in round 1, and in the same bucket in rounds 2 and 3" in alt(
        "week4", "circle"
    )
    assert ["both stars" in title for title in titles] == [False, True, True]


def test_the_error_falls_as_it_says() -> None:
    said = numbers(
        "week4", "rounds", r"from ([\d.]+) to ([\d.]+), averaged rounds only to ([\d.]+)"
    )
    (_, averaged), (_, weighted) = line("week4", "rounds", 1), line("week4", "rounds", 4)
    assert np.round([weighted[0], weighted[-1], averaged[-1]], 1).tolist() == said


def test_six_blocks_of_48_positions() -> None:
    title = next(w for w in record("week4")["block_diagonal"]["words"] if "buckets" in w)
    assert title == "48 positions, 6 buckets, chunks of 8 (dotted)"
    assert "48 by 48 cells" in alt("week4", "block_diagonal")
    assert "six solid blocks" in alt("week4", "block_diagonal")
    assert "chunk of eight" in alt("week4", "block_diagonal")


# Week 5


def test_tokens_become_alike_without_the_sum() -> None:
    curves = [line("week5", "residual_stream", n)[1] for n in (1, 2, 3)]
    (before,) = numbers("week5", "residual_stream", r"normalised before, to ([\d.]+)\.$")
    assert curves[0][6] > 0.98
    assert curves[1][-1] == pytest.approx(0.5, abs=0.05)
    assert curves[2][-1].round(1) == before


def test_the_copy_task_has_a_plateau_and_falls() -> None:
    step, loss = line("week5", "copy_loss", 1)
    first, last = numbers("week5", "copy_loss", r"between steps (\d+) and (\d+)")
    plateau = loss[(step >= 10) & (step <= 20)]
    assert plateau == pytest.approx(1, abs=0.1)
    assert np.interp(first, step, loss) / np.interp(last, step, loss) > 100


def test_the_loss_of_the_verses() -> None:
    steps, first, last = numbers(
        "week5", "verses_loss", r"over (\d+) steps, from ([\d.]+) down to about ([\d.]+)"
    )
    step, loss = line("week5", "verses_loss", 1)
    mean_step, mean = line("week5", "verses_loss", 2)
    floor = line("week5", "verses_loss", 4)[1][0]
    assert step[-1] + 1 == steps
    assert [loss[0].round(1), mean[-1].round(1)] == [first, last]
    assert "after some forty steps" in alt("week5", "verses_loss")
    assert mean_step[mean < floor][0] == pytest.approx(40, abs=8)


# Week 6


def test_where_the_sparse_maps_reach_zero() -> None:
    for number, end in ((3, 1), (2, 2)):  # sparsemax, entmax15
        x, p = line("week6", "sparse_maps", number)
        assert (p[x <= -end] == 0).all()
        assert (p[x >= end] == 1).all()
        assert ((p > 0) & (p < 1))[abs(x) < end - 0.02].all()
    assert "differences of -1 and 1" in alt("week6", "sparse_maps")
    assert "smoothly at -2 and 2" in alt("week6", "sparse_maps")


def test_how_many_of_twelve_get_something() -> None:
    counts = [(line("week6", "sparse_maps", n, panel=2)[1] > 0).sum() for n in (1, 2, 3)]
    assert counts == [12, 7, 3]
    assert "entmax15 the first seven, sparsemax the first three" in alt("week6", "sparse_maps")


def test_the_slow_pair_has_moved_when_the_fast_one_has_gone_round() -> None:
    (said,) = numbers("week6", "turning_pairs", r"about (\d+) degrees")
    points = [[v[0] for v in line("week6", "turning_pairs", 17, panel=p)] for p in (1, 2)]
    slow = np.degrees(np.arctan2(points[1][1], points[1][0]))
    assert slow == pytest.approx(said, abs=5)
    assert 7 * np.degrees(1) > 360  # a radian a position
    assert np.degrees(np.arctan2(*points[0][::-1])) == pytest.approx(
        7 * np.degrees(1) - 360, abs=0.1
    )


def test_long_vectors_need_many_features() -> None:
    (said,) = numbers("week6", "feature_error", r"only at (\d+) features")
    r, error = line("week6", "feature_error", 5)
    _, mean = line("week6", "feature_error", 6)
    assert r[error < mean[0]][0] == said


def test_the_causal_performer_crosses_full_attention() -> None:
    (said,) = numbers("week6", "largest_tensor", r"crosses it at (\d+) tokens")
    words = record("week6")["largest_tensor"]["words"]
    order = [w for w in words if w in ("full attention", "performer, causal", "performer")]
    curves = {name: line("week6", "largest_tensor", n) for n, name in enumerate(order, start=1)}
    x, full = curves["full attention"]
    causal = curves["performer, causal"][1]
    assert causal[0] > full[0]
    assert x[causal <= full][0] == said


# Week 7


def test_three_blocks_of_one_query() -> None:
    pattern = r"is (\d) and the sum ([\d.]+); .* to (\d), .* by ([\d.]+); .* logsumexp ([\d.]+)\.$"
    maximum, total, raised, factor, logsumexp = numbers("week7", "tile_walk", pattern)
    words = " ".join(record("week7")["tile_walk"]["words"])
    assert f"maximum {maximum:g}\nsum {total:.3f}" in words
    assert f"maximum {raised:g}" in words
    assert f"= {factor:.3f}" in words
    assert f"= {logsumexp:.3f}" in words


def test_the_belt() -> None:
    climbs = numbers("week7", "online", r"in steps from (\d) to (\d)")
    rises = numbers("week7", "online", r"smoothly from (\d) to (\d)")
    _, largest = line("week7", "online", 1)
    _, total = line("week7", "online", 3)
    assert [largest[0].round(), largest[-1].round()] == climbs
    assert [total[0].round(), total[-1].round()] == rises


def test_the_error_of_tiles() -> None:
    low, high, full = numbers(
        "week7", "exactness", r"between ([\d.]+) and ([\d.]+) times 1e-7 .* at ([\d.]+) times"
    )
    _, error = line("week7", "exactness", 1)
    _, ordinary = line("week7", "exactness", 2)
    assert low * 1e-7 <= error.min()
    assert error.max() <= high * 1e-7
    assert (ordinary[0] * 1e7).round(1) == full


def test_what_the_backward_pass_keeps() -> None:
    assert slopes("week7", "memory", 1) == pytest.approx(2, abs=0.01)
    assert slopes("week7", "memory", 3) == pytest.approx(1, abs=0.01)
    full, tiled, flash = (line("week7", "memory", n, panel=2)[1] for n in (1, 2, 3))
    assert "eight times less than full at 2048" in alt("week7", "memory")
    assert full[-1] / flash[-1] == pytest.approx(8, abs=1)
    assert (tiled > full).all()


def test_the_race() -> None:
    text = alt("week7", "race")
    assert "tiled lying below full from 4096 on and torch's own below both from 2048 on" in text
    assert "LSH attention starts highest" in text
    assert "is the fastest at 8192" in text
    for panel in (1, 2):
        (n, full), (_, lsh), (_, tiled), (_, own) = (
            line("week7", "race", number, panel) for number in (1, 2, 3, 4)
        )
        assert (tiled < full).tolist() == (n >= 4096).tolist()
        assert (own < np.minimum(full, tiled))[n >= 2048].all()
        assert lsh[0] > max(full[0], tiled[0], own[0])
        assert lsh[-1] < min(full[-1], tiled[-1], own[-1])


# Week 8


def test_the_work_of_a_token() -> None:
    said = numbers(
        "week8", "work", r"from ([\d.]+) to ([\d.]+) million .*? from ([\d.]+) to ([\d.]+) million"
    )
    again, cached = line("week8", "work", 1)[1], line("week8", "work", 2)[1]
    assert [again[0].round(1), again[-1].round(), cached[0].round(2), cached[-1].round(2)] == said


def test_the_bytes_of_a_cache() -> None:
    (near,) = numbers("week8", "bytes", r"near (\d+) positions")
    curves = [line("week8", "bytes", n) for n in (1, 2, 3, 4)]
    (x, each), (_, eight), (_, one), (_, latent) = curves
    weights = line("week8", "bytes", 5)[1][0]
    assert np.interp(weights, each, x) == pytest.approx(near, rel=0.05)
    assert each / eight == pytest.approx(4)
    assert "about fourteen times" in alt("week8", "bytes")
    assert each / latent == pytest.approx(14.2, abs=0.1)
    assert each / one == pytest.approx(32)
    assert weights == pytest.approx(8e9 * 2 / 2**30, abs=0.01)


def test_speculation_reproduces_p_by_the_rule_alone() -> None:
    bars = [
        np.array(
            [
                shown("week8", "speculation", f"panel 1, shape {5 * kind + t}")[3]
                for t in range(1, 6)
            ]
        )
        for kind in range(4)
    ]
    p, rule, wrong, q = bars
    assert rule == pytest.approx(p, abs=0.01)
    assert (wrong < p - 0.05)[(p > 0.3) & (q < 0.1)].all()
    assert (wrong > p)[q > p].all()


# Week 1, section 0


def test_the_bottleneck_and_what_looking_back_brings() -> None:
    pattern = r"from ([\d.]+) to ([\d.]+), .* from ([\d.]+) to ([\d.]+)\.$"
    shares = [line("week1", "bottleneck", n)[1] for n in (1, 2)]
    ends = [end for share in shares for end in (share[0], share[-1])]
    assert np.round(ends, 2).tolist() == numbers("week1", "bottleneck", pattern)


def test_the_map_crosses_where_the_languages_do() -> None:
    weights = shown("week1", "alignment", "panel 1, image 1")
    assert weights[1:4].argmax(-1).tolist() == [2, 1, 3]  # canard, blanc, aime
    assert weights[5].argmax() == 5  # chat


def test_the_lesson_has_the_translator_that_the_figures_are_drawn_with() -> None:
    source = (PROJECT.root / "solutions/week01_softmax/translation.py").read_text(encoding="utf-8")
    lesson = (PROJECT.exercise_folder(WEEKS["week1"]) / "lesson.md").read_text(encoding="utf-8")
    blocks = source.split("\n\n\n")
    assert len(blocks) > 4
    assert [b for b in blocks[1:] if b.strip() not in lesson] == []


# Week 9


def boxes(stem: str, panel: int = 1) -> np.ndarray:
    """Left, top, right and bottom of every shape of a panel of week 9, in the order of drawing."""
    kept = record("week9")[stem]["numbers"]
    names = [name for name in kept if name.startswith(f"panel {panel}, shape ")]
    return np.array([kept[name]["values"] for name in names])


def test_a_softmax_is_carried_eight_times_or_twice() -> None:
    assert "moves the matrix eight times" in alt("week9", "carried")
    bars = boxes("carried")
    rows = [bars[bars[:, 3] == height] for height in (1.7, 0.4)]  # operations, kernel
    assert [(row[:, 2] - row[:, 0]).sum() for row in rows] == [8, 2]


def test_four_rows_of_five_in_blocks_of_eight() -> None:
    assert re.search("four rows and five columns .* Blocks of eight", alt("week9", "grid"))
    words = record("week9")["grid"]["words"]
    assert [words.count("mask"), sum("," in word for word in words)] == [4 * 3, 4 * 5]
    assert boxes("grid")[:, 2:].max(0).tolist() == [8, 4]


def test_the_tiles_of_a_product_and_its_four_steps() -> None:
    rows, inner, inner_too, columns, tile = numbers(
        "week9", "tiles", r"(\d+) by (\d+) and a (\d+) by (\d+) matrix in tiles of (\d+)"
    )
    assert "in four steps each" in alt("week9", "tiles")
    for panel, (wide, high) in enumerate(((inner, rows), (columns, inner_too), (columns, rows)), 1):
        *tiles, matrix = boxes("tiles", panel)
        assert matrix[2:].tolist() == [wide, high]
        assert (np.max(tiles, 0)[2:] > matrix[2:]).all()  # beyond the right and the lower edge
        assert {tuple(t[2:] - t[:2]) for t in tiles} == {(tile, tile)}
    assert np.ceil(inner / tile) == 4


def test_the_running_maximum_rises_twice_and_the_sum_shrinks_there() -> None:
    assert "rises in the second and in the fourth block" in alt("week9", "running")
    highest = [line("week9", "running", n)[1][0] for n in (1, 2, 3, 4)]
    assert (np.diff(highest) > 0).tolist() == [True, False, True]
    parts = boxes("running", 2)[:8, 3].reshape(4, 2)  # the top of what is kept, and of the sum
    kept, sums = parts[1:, 0], parts[:-1, 1]
    assert (kept < sums - 1e-3).tolist() == [True, False, True]


def test_the_tiles_of_flash_reach_beyond_both_edges() -> None:
    high, wide, queries, keys = numbers(
        "week9", "flash", r"of (\d+) queries by (\d+) keys, for (\d+) queries and (\d+) keys"
    )
    tiles = boxes("flash")
    (matrix,) = (t for t in tiles if t[2:].tolist() == [keys, queries])
    tiles = np.array([t for t in tiles if (t[2:] - t[:2]).tolist() == [wide, high]])
    assert (tiles.max(0)[2:] > matrix[2:]).all()
