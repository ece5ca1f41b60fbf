"""Line 52. Hands in files that are larger than they look, or look larger than they are.

Variants: sparse_module sparse_data many_links zip_of_holes growing_name dot_names
Expected: refused|graded
Score at most: softmax=2
"""

import os
import zipfile


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    module = root / "softmax.py"
    module.write_text(solution)
    if variant == "sparse_module":
        with open(module, "a") as file:
            file.truncate(1 << 34)
    elif variant == "sparse_data":
        for number in range(20):
            with open(root / f"{number}.npy", "w") as file:
                file.truncate(1 << 33)
    elif variant == "many_links":
        (root / "0.json").write_text("x" * (4 << 20))
        for number in range(1, 100):
            os.link(root / "0.json", root / f"{number}.json")
    elif variant == "zip_of_holes":
        with zipfile.ZipFile(folder / "ada.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("softmax.py", solution)
            with archive.open("data.npy", "w", force_zip64=True) as file:
                for _ in range(64):
                    file.write(bytes(1 << 20))
        return folder / "ada.zip"
    elif variant == "growing_name":
        for number in range(1, 250):
            (root / ("n" * number + ".txt")).touch()
    else:
        for name in ("...", ". ", "..py", " softmax.py", "softmax.py.", "softmax.py ", "-rf", "~", "$(id).py"):
            (root / name).write_text("x = 1")
    return root
