"""Line 52. Folders nested by the thousand, files by the ten thousand, files that are none.

Variants: deep wide large bad_name empty binary large_module no_module two_modules unreadable
Expected: refused|graded
Score at most: softmax=2
"""

import os


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(solution)
    if variant == "deep":
        here = os.getcwd()
        os.chdir(root)
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
    elif variant == "wide":
        for number in range(10_500):
            (root / f"{number}.bin").touch()
    elif variant == "large":
        with open(root / "big.txt", "wb") as file:
            file.truncate(1 << 40)
    elif variant == "bad_name":
        (root / os.fsdecode(b"bad\xff.py")).write_text("x = 1")
    elif variant == "empty":
        (root / "softmax.py").write_text("")
    elif variant == "binary":
        (root / "softmax.py").write_bytes(bytes(range(256)))
    elif variant == "large_module":
        (root / "softmax.py").write_text(solution + "\nx = [" + "1," * 300_000 + "]")
    elif variant == "no_module":
        (root / "softmax.py").rename(root / "Softmax.txt")
    elif variant == "two_modules":
        for name in ("a", "b"):
            (root / name).mkdir()
            (root / name / "softmax.py").write_text(solution)
        (root / "softmax.py").unlink()
    elif variant == "unreadable":
        (root / "softmax.py").chmod(0)
    return root
