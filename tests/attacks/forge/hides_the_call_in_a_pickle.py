"""Line 26. Loads the function from a pickle in a data file next to the module.

Variants: partial method module
Expected: softmax=forbidden|crashed
Score at most: softmax=0
"""

import base64
import pickle


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    payload = {
        "partial": b"cfunctools\npartial\n(ctorch.nn.functional\nsoftmax\ntR.",
        "method": b"cbuiltins\ngetattr\n(ctorch\nTensor\nS'softmax'\ntR.",
        "module": b"ctorch.nn\nSoftmax\n(I-1\ntR.",
    }[variant]
    (root / "data.txt").write_text(base64.b64encode(payload).decode())
    (root / "softmax.py").write_text(
        "import base64, pickle, pathlib\nimport torch\n"
        "_go = pickle.loads(base64.b64decode(pathlib.Path(__file__).with_name('data.txt').read_text()))\n"
        "def softmax(x, dim=-1):\n    return _go(x.movedim(dim, -1), -1).movedim(-1, dim) if not isinstance(_go, torch.nn.Module) else _go(x.movedim(dim, -1)).movedim(-1, dim)\n"
    )
    return root
