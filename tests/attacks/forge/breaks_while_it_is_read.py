"""Line 49. Raises, ends or never ends while its answer is read and no call runs any more.

Week: week02_masking
Variants: label formatter image colours extent exits hangs kills
Expected: plot_attention=crashed|wrong|pass|timeout|limit|bad_reply; SelfAttention=pass
Score at most: plot_attention=0.5; SelfAttention=2
"""

import os
import time

import matplotlib.axes as _axes


class _Axes(_axes.Axes):
    def get_xlabel(self):
        if VARIANT == "label":
            raise ValueError("a label of LOOT")
        if VARIANT == "exits":
            raise SystemExit(0)
        if VARIANT == "hangs":
            time.sleep(60)
        if VARIANT == "kills":
            os._exit(0)
        return super().get_xlabel()

    def get_images(self):
        if VARIANT == "image":
            raise MemoryError
        found = super().get_images()
        for one in found:
            if VARIANT == "colours":
                one.get_clim = lambda: (float("nan"), "x")
            if VARIANT == "extent":
                one.get_extent = lambda: (1,)
        return found


_plot = plot_attention


def plot_attention(*args, **kwargs):
    ax = _plot(*args, **kwargs)
    ax.__class__ = _Axes
    if VARIANT == "formatter":
        import matplotlib.ticker as ticker

        def failing(*_):
            raise KeyError("tick")

        ax.xaxis.set_major_formatter(ticker.FuncFormatter(failing))
    return ax
