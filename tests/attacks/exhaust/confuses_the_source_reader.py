"""Line 47. Its source is made to be hard to read: deep, long, and full of names.

Variants: nested_brackets unary long_chain many_names many_definitions many_imports deep_attributes many_assignments gc_sign
Expected: refused|graded
Score at most: softmax=2
"""

_SIGN = "import gc\n"
_SOURCES = {
    "nested_brackets": _SIGN + "x = " + "(" * 50_000 + ")" * 50_000,
    "unary": _SIGN + "x = " + "-" * 100_000 + "1",
    "long_chain": _SIGN + "x = 1" + " + 1" * 50_000,
    "many_names": _SIGN + "\n".join(f"a{i} = b{i}" for i in range(15_000)),
    "many_definitions": _SIGN + "\n".join(f"def f{i}(): f{i + 1}" for i in range(10_000)).replace("def f0", "def softmax"),
    "many_imports": _SIGN + "import " + ",".join(f"a{i}" for i in range(20_000)) + "\n" + "\n".join(f"def f{i}(): f{i + 1}" for i in range(5_000)).replace("def f0", "def softmax"),
    "deep_attributes": _SIGN + "x = gc" + ".a" * 100_000,
    "many_assignments": _SIGN + "\n".join(f"g{i} = gc.b" for i in range(7_000)) + "\n" + "\n".join(f"def f{i}(): f{i + 1}" for i in range(5_000)).replace("def f0", "def softmax"),
    "gc_sign": _SIGN + "x = [" + "1," * 120_000 + "]",
}


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(_SOURCES[variant])
    return root
