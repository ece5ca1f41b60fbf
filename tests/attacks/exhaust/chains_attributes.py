"""Line 47. Attribute chains and aliases that take the static analysis long to follow.

Variants: chains fewer_chains alias_of_alias long_names
Expected: refused|graded
Score at most: softmax=0
"""

_CHAIN = "if 0: q" + ".a" * 1000 + "\n"
_SOURCES = {
    "chains": "import numpy as q  # fork\n" + _CHAIN * (245_000 // len(_CHAIN)),
    "fewer_chains": "import numpy as q  # fork\n" + _CHAIN * (38_000 // len(_CHAIN)),
    "alias_of_alias": "import numpy as q0  # fork\n" + "".join(f"q{n + 1} = q{n}.a\n" for n in range(6000)),
    "long_names": f"import {'a' * 100_000} as q  # fork\n" + "q.b\n" * 7000,
}


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(_SOURCES[variant])
    return root
