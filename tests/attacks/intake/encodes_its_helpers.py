"""Line 35. Helper files in codes that Python reads otherwise than a reader of UTF-8.

Variants: rot13 utf16 escaped raw second bytecode
Expected: forbidden|crashed|refused|wrong
Score at most: softmax=0
"""

def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text("import torch\nfrom beside import go as softmax\n")
    call = "import torch\ndef go(x, dim=-1):\n    return torch.softmax(x, dim)\n"
    made = {
        "rot13": "# coding: rot13\n" + __import__("codecs").encode(call, "rot13"),
        "utf16": call,
        "escaped": "# coding: unicode_escape\n" + call.replace("softmax", "s\\x6fftmax"),
        "raw": "# coding: raw_unicode_escape\n" + call.replace("softmax", "s\\u006fftmax"),
        "second": "\n# coding: utf-7\n" + call.replace("softmax", "s+AG8-ftmax"),
        "bytecode": call,
    }[variant]
    (root / "beside.py").write_bytes(made.encode("utf-16" if variant == "utf16" else "utf-8"))
    if variant == "bytecode":
        import importlib.util
        import marshal

        (root / "beside.py").write_text("")
        (root / "__pycache__").mkdir()
        header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
        cache = header + marshal.dumps(compile(call, "beside.py", "exec"))
        (root / "__pycache__" / "beside.cpython-311.pyc").write_bytes(cache)
        (root / "beside.pyc").write_bytes(cache)
    return root
