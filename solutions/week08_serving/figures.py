"""The figures of the week 8 lesson, drawn from the solution, readable in black and white."""

import serving as week
import torch
from drawings import cache_steps
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch.utils.flop_counter import FlopCounterMode

GIB = 2**30


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "cache_steps": cache_steps(),
        "bytes": cache_sizes(),
        "work": work_per_token(),
        "groups": groups(),
        "windows": windows(),
        "pages": pages(),
        "speculation": speculation(),
    }


def cache_sizes() -> Figure:
    """Bytes of the cache of a model with 32 layers and 32 heads of 128, over the length."""
    lengths = [2**power for power in range(10, 18)]
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    shared = (
        (32, "H_kv = 32", "k-o"),
        (8, "H_kv = 8", "k--s"),
        (1, "H_kv = 1", "k:^"),
    )
    for kv_heads, name, style in shared:
        sizes = [week.cache_bytes(32, kv_heads, 128, length) / GIB for length in lengths]
        axes.loglog(lengths, sizes, style, base=2, label=name, fillstyle="none")
    # one latent of 512 numbers and 64 for the position, for keys and values together
    latent = [32 * 576 * 2 * length / GIB for length in lengths]
    axes.loglog(lengths, latent, "k-.D", base=2, label="latent (512 + 64)", fillstyle="none")
    axes.axhline(14.9, color="grey", linewidth=1)
    axes.text(lengths[0], 16.5, "8 billion parameters in 16 bits", fontsize=9)
    axes.set_yscale("log", base=10)
    axes.set(
        title="Keys and values of one sequence, 16 bits", xlabel="length (positions)", ylabel="GiB"
    )
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def small_model() -> week.LanguageModel:
    torch.manual_seed(0)
    return week.LanguageModel(64, 64, 8, 2, n_layers=2, max_len=160)


def work_per_token() -> Figure:
    """Floating-point operations for each new token, with a cache and without."""
    model = small_model().eval()
    ids = torch.randint(64, (1, 129), generator=torch.Generator().manual_seed(1))
    lengths = list(range(4, 129, 4))
    without, cached = [], []
    with torch.no_grad():
        for length in lengths:
            with FlopCounterMode(display=False) as counter:
                model(ids[:, :length])
            without.append(counter.get_total_flops() / 1e6)
            caches = model.new_caches(1, length)
            model(ids[:, : length - 1], caches)
            with FlopCounterMode(display=False) as counter:
                model(ids[:, length - 1 : length], caches)
            cached.append(counter.get_total_flops() / 1e6)
    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(lengths, without, "k--", label="the whole text again")
    axes.plot(lengths, cached, "k-", label="the new token alone, with a cache")
    axes.set_yscale("log")
    axes.set(title="Work for one new token", xlabel="length so far (positions)")
    axes.set_ylabel("million operations")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def groups() -> Figure:
    """Which query head uses which key-value head."""
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    cases = ((8, "multi-head: H_kv = 8"), (2, "grouped: H_kv = 2"), (1, "multi-query: H_kv = 1"))
    for axes, (kv_heads, title) in zip(figure.subplots(1, 3), cases, strict=True):
        places = [(i + 0.5) * 8 / kv_heads - 0.5 for i in range(kv_heads)]
        for head in range(8):
            axes.plot([head, places[head // (8 // kv_heads)]], [1, 0], "k-", linewidth=0.8)
        axes.plot(range(8), [1] * 8, "ko", markersize=9, fillstyle="none")
        axes.plot(places, [0] * kv_heads, "ks", markersize=9)
        axes.set(title=title, ylim=(-0.3, 1.3))
        axes.set_yticks([0, 1], ["keys,\nvalues", "queries"])
        axes.set_xticks([])
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure


def windows() -> Figure:
    """The causal mask, a window, and a window with sinks."""
    figure = Figure(figsize=(9.5, 3.5), layout="constrained")
    cases = (
        (week.sliding_window_mask(12, 12, 12), "causal"),
        (week.sliding_window_mask(12, 12, 4), "window 4"),
        (week.sliding_window_mask(12, 12, 4, sinks=2), "window 4, 2 sinks"),
    )
    for axes, (mask, title) in zip(figure.subplots(1, 3), cases, strict=True):
        axes.imshow(mask.numpy(), cmap="Greys", vmin=0, vmax=1.6, origin="upper")
        axes.set_xticks([x - 0.5 for x in range(13)], [], minor=True)
        axes.set_yticks([x - 0.5 for x in range(13)], [], minor=True)
        axes.grid(which="minor", color="white", linewidth=0.7)
        axes.tick_params(which="minor", length=0)
        axes.set(title=title, xlabel="key", ylabel="query")
    return figure


def pages() -> Figure:
    """A pool of twelve pages while sequences grow, end and start."""
    cache = week.PagedCache(12, 4, 1, 1)

    def grow(seq: str, count: int) -> None:
        cache.append(seq, torch.zeros(1, count, 1), torch.zeros(1, count, 1))

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    moments = figure.subplots(3, 1)
    grow("A", 7), grow("B", 10), grow("C", 3)
    draw_pages(moments[0], cache, "three sequences")
    grow("A", 6), grow("C", 2)
    draw_pages(moments[1], cache, "A and C have grown")
    cache.free("B")
    grow("D", 13)
    draw_pages(moments[2], cache, "B has ended, D has started")
    return figure


def draw_pages(axes: object, cache: week.PagedCache, title: str) -> None:
    """Draw one strip of pages, with the name of each page below it and its filled slots in grey."""
    owner = {page: (seq, i) for seq, pages in cache._pages.items() for i, page in enumerate(pages)}
    for page in range(12):
        for slot in range(4):
            seq, number = owner.get(page, ("", 0))
            filled = bool(seq) and number * 4 + slot < cache._lengths[seq]
            corner = (page * 4.6 + slot, 0)
            colour = "0.75" if filled else "white"
            axes.add_patch(
                Rectangle(corner, 1, 1, facecolor=colour, edgecolor="black", linewidth=0.7)
            )
        if page in owner:
            name = f"{owner[page][0]}{owner[page][1] + 1}"
            axes.text(page * 4.6 + 2, -0.25, name, ha="center", va="top")
    axes.set(xlim=(-0.5, 12 * 4.6), ylim=(-1.9, 1.1), aspect="equal")
    axes.set_title(title, fontsize=10, loc="left")
    axes.axis("off")


def speculation() -> Figure:
    """The distribution of generated tokens by the rule and by a wrong one, with p and q."""
    p = torch.tensor([0.05, 0.15, 0.3, 0.1, 0.4])
    q = torch.tensor([0.3, 0.3, 0.2, 0.15, 0.05])
    generator = torch.Generator().manual_seed(2)
    steps = 20_000
    right, wrong = torch.zeros(5), torch.zeros(5)
    drafts = torch.multinomial(q, steps, replacement=True, generator=generator)
    draws = torch.rand(steps, 2, generator=generator)
    cumulative = p.cumsum(0)
    for draft, u in zip(drafts, draws, strict=True):
        accepted, token = week.speculative_step(draft[None], torch.stack([p, p]), q[None], u)
        right[int(draft) if accepted else token] += 1
        again = min(int((cumulative <= u[1]).sum()), 4)
        wrong[int(draft) if accepted else again] += 1
    figure = Figure(figsize=(7.5, 3.9), layout="constrained")
    axes = figure.subplots()
    bars = (
        (p, "p, the large model", "black"),
        (right / steps, "the rule", "0.6"),
        (wrong / steps, "drawing from p after a rejection", "white"),
        (q, "q, the small model", "0.9"),
    )
    for number, (heights, name, colour) in enumerate(bars):
        places = [token + 0.2 * number for token in range(5)]
        axes.bar(places, heights.tolist(), 0.18, color=colour, edgecolor="black", label=name)
    axes.set_xticks([token + 0.3 for token in range(5)], [f"token {token}" for token in range(5)])
    axes.set(ylabel="probability", title="The first token of 20,000 speculative steps")
    figure.legend(loc="outside lower center", fontsize=9, ncols=2)
    return figure
