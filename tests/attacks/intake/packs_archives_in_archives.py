"""Line 52. Files that are zips in disguise, doubled endings, prefixes, comments, sparse names.

Variants: prefixed commented joined module_is_zip zip_of_zips empty nothing many_disks zip64 dates modes
Expected: refused|graded
Score at most: softmax=2
"""

import io
import zipfile


def make(folder, variant, solution):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("softmax.py", solution)
    data = inner.getvalue()
    path = folder / "ada.zip"
    if variant == "prefixed":
        path.write_bytes(b"#!/bin/sh\n" * 5_000 + data)
    if variant == "commented":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("softmax.py", solution)
            archive.comment = b"PK\x05\x06" * 10_000
    if variant == "joined":
        path.write_bytes(data + data)
    if variant == "module_is_zip":
        path = folder / "softmax.py"
        path.write_bytes(data)
    if variant == "zip_of_zips":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("ada.zip", data)
    if variant == "empty":
        with zipfile.ZipFile(path, "w"):
            pass
    if variant == "nothing":
        path.write_bytes(b"")
    if variant == "many_disks":
        path.write_bytes(data[:-18] + b"\x07\x00" * 2 + data[-14:])
    if variant == "zip64":
        path.write_bytes(data[:-22] + b"PK\x06\x06" + (2**63).to_bytes(8, "little") + bytes(44) + b"PK\x06\x07" + bytes(4) + (0).to_bytes(8, "little") + bytes(4) + data[-22:])
    if variant == "dates":
        with zipfile.ZipFile(path, "w") as archive:
            information = zipfile.ZipInfo("softmax.py")
            information.date_time = (2107, 15, 31, 31, 63, 62)
            archive.writestr(information, solution)
    if variant == "modes":
        with zipfile.ZipFile(path, "w") as archive:
            information = zipfile.ZipInfo("softmax.py")
            information.external_attr = 0o106777 << 16
            archive.writestr(information, solution)
    return path
