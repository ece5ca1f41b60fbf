"""Line 47. Syntax of every kind nested as deeply as the parser accepts, to overflow tree walks.

Variants: ifs elifs lambdas calls subscripts comparisons powers awaits conditionals decorators walrus strings classes tries
Expected: refused|graded
Score at most: softmax=0
"""

_SIGN = "import gc\n"
_SOURCES = {
    "ifs": _SIGN + "".join(" " * n + "if 1:\n" for n in range(95)) + " " * 95 + "pass",
    "elifs": _SIGN + "if 0: pass\n" + "elif gc.a: pass\n" * 3_000,
    "lambdas": _SIGN + "x = " + "lambda: " * 3_000 + "gc",
    "calls": _SIGN + "x = gc" + "()" * 9_000,
    "subscripts": _SIGN + "x = gc" + "[0]" * 9_000,
    "comparisons": _SIGN + "x = " + "not " * 9_000 + "gc",
    "powers": _SIGN + "x = " + "2 ** " * 5_000 + "2",
    "awaits": _SIGN + "async def f():\n    " + "await " * 9_000 + "gc",
    "conditionals": _SIGN + "x = " + "1 if gc.a else " * 4_000 + "1",
    "decorators": _SIGN + "@gc.a\n" * 9_000 + "def softmax(x): pass",
    "walrus": _SIGN + "x = " + "(y := " * 190 + "gc" + ")" * 190,
    "strings": _SIGN + "x = " + "f'{" * 140 + "gc" + "}'" * 140,
    "classes": _SIGN + "".join(" " * n + f"class A{n}:\n" for n in range(95)) + " " * 95 + "pass",
    "tries": _SIGN + "".join(" " * n + "try:\n" for n in range(19)) + " " * 19 + "pass\n" + "".join(" " * n + "finally: gc.get\n" for n in range(18, -1, -1)),
}


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(_SOURCES[variant], encoding="utf-8")
    return root
