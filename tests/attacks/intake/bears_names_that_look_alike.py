"""Line 53. Hands in modules whose names are read as the right one: other letters, cases, forms.

Variants: cyrillic wide composed upper trailing zero_width both
Expected: refused|graded
Score at most: softmax=2
"""

def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    names = {
        "cyrillic": ["s\u043eftmax.py"],
        "wide": ["\uff53oftmax.py"],
        "composed": ["so\ufb00tmax.py", "soft\u0301max.py"],
        "upper": ["SOFTMAX.PY", "Softmax.py"],
        "trailing": ["softmax.py ", "softmax .py"],
        "zero_width": ["soft\u200bmax.py", "softmax\u202eyp.py"],
        "both": ["softmax.py", "s\u043eftmax.py", "\uff53oftmax.py"],
    }[variant]
    for name in names:
        (root / name).write_text(solution)
    return root
