"""Line 41. Small data files that grow when they are read.

Variants: array mapped json zlib entities
Expected: softmax=crashed|limit|timeout
Score at most: softmax=0
"""

import base64
import io
import lzma
import zlib


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    read = "import json, pathlib\nimport numpy as np, torch\n_here = pathlib.Path(__file__).parent\n"
    if variant == "array":
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }"
        header += b" " * (117 - len(header)) + b"\n"
        (root / "big.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        read += "def softmax(x, dim=-1):\n    return np.load(_here / 'big.npy')\n"
    if variant == "mapped":
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (134217728,), }"
        header += b" " * (117 - len(header)) + b"\n"
        (root / "big.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        read += "def softmax(x, dim=-1):\n    return np.lib.format.open_memmap(_here / 'new.npy', 'w+', shape=(1 << 27,))[:] + 1\n"
    if variant == "json":
        (root / "deep.json").write_text("[" * 500_000)
        read += "def softmax(x, dim=-1):\n    return json.loads((_here / 'deep.json').read_text())\n"
    if variant == "zlib":
        (root / "z.txt").write_text(base64.b64encode(zlib.compress(bytes(400 << 20), 9)).decode())
        read += "def softmax(x, dim=-1):\n    import base64, zlib\n    return zlib.decompress(base64.b64decode((_here / 'z.txt').read_text()))\n"
    if variant == "entities":
        entities = '<!DOCTYPE a [<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
        (root / "x.txt").write_text(entities + "]><a>&a11;</a>")
        read += "def softmax(x, dim=-1):\n    import xml.etree.ElementTree as tree\n    return len(tree.parse(_here / 'x.txt').getroot().text)\n"
    (root / "softmax.py").write_text(read)
    return root
