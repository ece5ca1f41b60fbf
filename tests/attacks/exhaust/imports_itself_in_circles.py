"""Line 47. Own files that import each other: circles, ladders, relative to nowhere, names that are folders too.

Variants: circle ladder itself relative deep double stars
Expected: refused|graded
Score at most: softmax=2
"""

def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    files = {"softmax.py": solution + "\nimport gc\n"}
    if variant == "circle":
        files |= {f"a{n}.py": f"from a{(n + 1) % 40} import *\nfrom a{(n + 2) % 40} import *" for n in range(40)}
        files["softmax.py"] += "from a0 import *\n"
    if variant == "ladder":
        files |= {f"a{n}.py": "".join(f"import a{m}\nfrom a{m} import x{m} as x{n}_{m}\n" for m in range(n)) for n in range(40)}
        files["softmax.py"] += "from a39 import *\n"
    if variant == "itself":
        files["softmax.py"] += "from softmax import *\nimport softmax as softmax_again\n"
    if variant == "relative":
        files["softmax.py"] += "try:\n    from ................................ import gc as x\nexcept ImportError: pass\n"
    if variant == "deep":
        files["/".join("d" * 30) + "/a.py"] = "import gc\n"
        files["softmax.py"] += "try:\n    import " + ".".join("d" * 30) + ".a\nexcept ImportError: pass\n"
    if variant == "double":
        files |= {"a.py": "x = 1", "a/__init__.py": "x = 2\nfrom . import a", "a/a.py": "from a import a"}
        files["softmax.py"] += "import a.a\n"
    if variant == "stars":
        files |= {f"a{n}.py": "from softmax import *\n" + "".join(f"from a{m} import *\n" for m in range(40)) for n in range(40)}
        files["softmax.py"] += "try:\n    from a0 import *\nexcept ImportError: pass\n"
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root
