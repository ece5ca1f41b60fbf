"""The figures of the week 10 lesson, drawn from the solution, readable in black and white."""

import math

import llama as week
import torch
from drawings import block, clocks
from matplotlib.figure import Figure
from torch.nn import functional as F

D, LENGTH, FACTOR = 32, 256, 4.0  # of the shipped model, and a context four times as long


def figures() -> dict[str, Figure]:
    """Every figure of the lesson by its file stem."""
    return {
        "block": block(),
        "clocks": clocks(),
        "scaling": scaling(),
        "gates": gates(),
        "roofline": roofline(),
    }


def scaling() -> Figure:
    """Turns of each pair within the context, and what each method does to its frequency."""
    plain = week.rotary_frequencies(D)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    turns, ratios = figure.subplots(1, 2)
    turns.semilogy(range(D // 2), (LENGTH * plain / (2 * math.pi)).tolist(), "k-o", markersize=4)
    for limit in (1, 32):
        turns.axhline(limit, color="0.5", linestyle="--", linewidth=1)
        turns.text(D // 2 - 1, limit * 1.15, f"{limit}", ha="right", fontsize=9)
    turns.set(title=f"Turns within {LENGTH} positions", xlabel="pair i", ylabel="turns")
    for method, style in (("linear", "k:^"), ("ntk", "k--s"), ("yarn", "k-o")):
        scaled = week.rotary_frequencies(D, factor=FACTOR, method=method, length=LENGTH)
        ratios.plot((scaled / plain).tolist(), style, label=method, markersize=4, fillstyle="none")
    ratios.set(title=f"Scaled for {FACTOR:g} times the length", xlabel="pair i")
    ratios.set(ylabel="scaled / unscaled frequency", ylim=(0, 1.05))
    ratios.legend()
    for axes in (turns, ratios):
        axes.set_xticks(range(0, D // 2, 3))
        axes.grid(alpha=0.3)
    return figure


def gates() -> Figure:
    """SiLU between ReLU and GELU."""
    z = torch.linspace(-5, 3, 161)
    figure = Figure(figsize=(6.5, 3), layout="constrained")
    axes = figure.subplots()
    for name, function, style in (
        ("SiLU", F.silu, "k-"),
        ("GELU", F.gelu, "k--"),
        ("ReLU", F.relu, "k:"),
    ):
        axes.plot(z.tolist(), function(z).tolist(), style, label=name)
    axes.set(title="Three activations", xlabel="z", ylabel="activation of z")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def roofline() -> Figure:
    """A model of 8 billion weights on a GPU with 2 TB/s and 300 TFLOP/s (as in week 8)."""
    bandwidth, peak = 2e12, 300e12
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    intensity = sorted([2**power for power in range(-1, 13)] + [peak / bandwidth])
    roof = [min(peak, bandwidth * x) / 1e12 for x in intensity]
    axes.loglog(intensity, roof, "k-", linewidth=1.5)
    for name, tokens, cached, marker in (
        ("decode, 1 sequence", 1, 1, "o"),
        ("decode, 32 sequences", 32, 32, "s"),
        ("prefill of 2000 tokens", 2000, 1, "^"),
    ):
        x = 16e9 * tokens / (16e9 + cached * 2000 * 131072)
        y = min(peak, bandwidth * x) / 1e12
        axes.plot([x], [y], "k" + marker, markersize=8, fillstyle="none", label=name)
    axes.axvline(peak / bandwidth, color="0.5", linestyle="--", linewidth=1)
    axes.set(title="Roofline: 8 billion weights in 16 bits, 2000 tokens per sequence")
    axes.set(xlabel="arithmetic intensity (FLOPs per byte)", ylabel="TFLOP/s at most")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    return figure
