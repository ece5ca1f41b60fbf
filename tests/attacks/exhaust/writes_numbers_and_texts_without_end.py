"""Line 47. Short source with huge values: large numbers and multiplied texts in literals.

Variants: power texts sums reversed joined digits hexadecimal float one_text escapes doubled formats
Expected: refused|graded
Score at most: softmax=0
"""

_SIGN = "import gc\nx = gc\n"
_SOURCES = {
    "power": _SIGN + "y = getattr(gc, 'a' * 9 ** 9 ** 9)",
    "texts": _SIGN + "y = getattr(gc, 'a' * 10 ** 9 * 10 ** 9)",
    "sums": _SIGN + "y = getattr(gc, " + " + ".join(["'get_'"] * 9_000) + ")",
    "reversed": _SIGN + "y = getattr(gc, 'a'" + "[::-1]" * 4_000 + ")",
    "joined": _SIGN + "y = getattr(gc, " + "''.join([" * 180 + "'a'" + "])" * 180 + ")",
    "digits": _SIGN + "y = " + "9" * 200_000,
    "hexadecimal": _SIGN + "y = 0x" + "f" * 200_000,
    "float": _SIGN + "y = 1" + "0" * 200_000 + ".0",
    "one_text": _SIGN + "y = getattr(gc, '" + "a" * 200_000 + "')",
    "escapes": _SIGN + "y = getattr(gc, '" + "\\N{LATIN SMALL LETTER A}" * 9_000 + "')",
    "doubled": _SIGN + "y = 'aaaaaaaa'\n" + "y = y + y\n" * 2_000 + "getattr(gc, y)",
    "formats": _SIGN + "y = getattr(gc, '%999999999s' % 'a')\nz = getattr(gc, '{:>999999999}'.format('a'))\nw = getattr(gc, f'{1:>999999999}')",
}


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(_SOURCES[variant], encoding="utf-8")
    return root
