"""Line 47. Source with letters that look the same, fold, join, reverse direction or are invisible.

Variants: bom wide marks ligatures separators turned tabs returns continued chained form_feeds hidden type_comments surrogate
Expected: refused|graded
Score at most: softmax=2
"""

_SOURCES = {
    "bom": "\ufeff\ufeffimport gc\n",
    "wide": "ｇｃ = 1\nｉｍｐｏｒｔ = 2\nimport ｇｃ\ndef softmax(x, dim=-1): return ｇｃ.get_objects()\n",
    "marks": "x" + "\u0301" * 100_000 + " = 1\n",
    "ligatures": "".join(f"x\ufb03{n} = 1\n" for n in range(9_000)),
    "separators": "x = 1\u2028import gc\u2029y = 2\x0cz = 3\x85w = 4\n",
    "turned": "x = '\u202e\u2066 import gc \u2069\u202c'\n# \u202e}\n",
    "tabs": "if 1:\n\tx = 1\n        y = 2\n",
    "returns": "import gc\rx = 1\r" * 3_000,
    "continued": "x = \\\n" * 9_000 + "1\n",
    "chained": "".join(f"x{n} = \\\n" for n in range(9_000)) + "1\n",
    "form_feeds": "\x0c" * 90_000 + "import gc\n",
    "hidden": "x = 1  # coding: \u200b\n" + "\u200b\n" * 10,
    "type_comments": "x = 1  # type: " + "[" * 50_000 + "\n" + "import gc\n",
    "surrogate": "x = '\\ud800' + '\\udfff'\nimport gc\nraise ValueError(x)\n",
}


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(_SOURCES[variant], encoding="utf-8")
    return root
