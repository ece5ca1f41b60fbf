"""Line 53. Names its files as the worker, the protocol, the sandbox or Python's own would.

Variants: worker python late torch dots reserved cases caches
Expected: graded|refused
Score at most: softmax=2
"""

def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    (root / "softmax.py").write_text(solution)
    names = {
        "worker": ("executor.py", "protocol/frames.py", "monitor/operator_hooks.py", "worker.py", "server.py", "fork_server.py"),
        "python": ("__main__.py", "__init__.py", "site.py", "encodings.py", "zipimport.py", "importlib/__init__.py", "codecs.py"),
        "late": ("traceback.py", "linecache.py", "unicodedata.py", "queue.py", "_strptime.py", "msgspec/_core.py", "numpy/random/_pickle.py"),
        "torch": ("expecttest.py", "sympy.py", "mpmath.py", "optree.py", "triton.py", "torch_npu.py", "scipy/__init__.py", "scipy/special.py", "pandas.py"),
        "dots": (".py", "..py", "a..py", "a.b.py", " .py", "~.py", "-c.py"),
        "reserved": ("con.py", "nul.txt", "aux.json", "com1.csv", "prn.npy"),
        "cases": ("SOFTMAX.txt", "Softmax.json", "softmax.PY.txt"),
        "caches": ("__pycache__/softmax.cpython-311.pyc", "softmax.pyc", "a.so", "softmax.cpython-311-x86_64-linux-gnu.so"),
    }[variant]
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("print('LOOT: a file of the submission was imported by somebody else')\n")
    return root
