"""Line 24. Drawings that are endless, misreport their contents, run code, or request files and programs.

Week: week02_masking
Variants: huge_canvas endless_dots many_texts settings backend tex writes_files font image_file own_figure lying_image callbacks path_effects canvas_gone nan_limits copies_of_axes own_text no_figure table_of_objects effects_of_saving
Expected: plot_attention=crashed|wrong|pass|limit|timeout|bad_reply
Score at most: plot_attention=2
"""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

_honest = plot_attention


class _Own(matplotlib.figure.Figure):
    @property
    def axes(self):
        while True:
            pass

    def savefig(self, *args, **kwargs):
        raise SystemExit(0)


class _Text(str):
    def __len__(self):
        return 10**9

    def __iter__(self):
        return iter(int, 1)


def plot_attention(*args, **kwargs):
    if VARIANT == "settings":
        matplotlib.rcParams.update({"figure.figsize": (1e5, 1e5), "savefig.dpi": 1e5})
        matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=["none"])
    if VARIANT == "backend":
        plt.switch_backend("svg")
    axes = _honest(*args, **kwargs)
    figure = axes.figure
    if VARIANT == "huge_canvas":
        figure.set_size_inches(1e6, 1e6)
        figure.set_dpi(1e6)
    elif VARIANT == "endless_dots":
        axes.scatter(*np.random.default_rng(0).random((2, 2_000_000)))
    elif VARIANT == "many_texts":
        for i in range(20000):
            axes.text(0, 0, f"t{i}")
    elif VARIANT == "tex":
        matplotlib.rcParams["text.usetex"] = True
        matplotlib.rcParams["text.latex.preamble"] = r"\immediate\write18{touch /tmp/seen-tex}"
        axes.set_title(r"\input{/etc/passwd}")
    elif VARIANT == "writes_files":
        figure.savefig("../../seen.svg", metadata={"Title": "<script>alert(1)</script>"})
    elif VARIANT == "font":
        secret = matplotlib.font_manager.FontProperties(fname="/etc/passwd")
        axes.set_title("title", fontproperties=secret)
    elif VARIANT == "image_file":
        axes.imshow(plt.imread("/proc/1/environ"))
    elif VARIANT == "own_figure":
        figure.__class__ = _Own
    elif VARIANT == "lying_image":
        for image in axes.images:
            image.get_array = lambda: np.broadcast_to(np.float32(1), (10**6, 10**6))
    elif VARIANT == "callbacks":
        figure.canvas.mpl_connect("draw_event", lambda event: exit(0))
        axes.add_callback(lambda a: exit(0))
        axes.set_axes_locator(lambda a, r: exit(0))
    elif VARIANT == "path_effects":
        axes.title.set_path_effects([object()])
    elif VARIANT == "canvas_gone":
        figure.canvas = None
    elif VARIANT == "nan_limits":
        axes.set_xlim(np.nextafter(0, 1), np.finfo(float).max)
        axes.viewLim.intervalx = (np.nan, np.inf)
    elif VARIANT == "copies_of_axes":
        figure.axes.extend([axes] * 10**5)
        figure._axstack.as_list = lambda: [axes] * 10**6
    elif VARIANT == "own_text":
        axes.xaxis.label._text = _Text("Key")
        axes.title._text = _Text("\x1b[2J")
    elif VARIANT == "no_figure":
        axes.figure = None
    elif VARIANT == "table_of_objects":
        for image in axes.images:
            image._A = np.array([[object()] * 4] * 4)
    elif VARIANT == "effects_of_saving":
        figure.draw = figure.savefig = lambda *a, **k: (_ for _ in ()).throw(MemoryError)
    return axes
