"""Line 52. A zip that unpacks to terabytes, escapes its folder, collides, or allocates gigabytes.

Variants: bomb many_bombs climbs absolute drive backslash case unicode twice file_and_folder symlink nested many_entries long_name deep encrypted null_name bad_encoding size_lies truncated corrupt lzma huge_dictionary list_of_millions
Expected: refused|graded
Score at most: softmax=2
"""

import io
import struct
import warnings
import zipfile


def make(folder, variant, solution):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names written twice
        return archive_of(folder, variant, solution)


def archive_of(folder, variant, solution):
    path = folder / "ada.zip"
    if variant == "list_of_millions":
        entry = b"PK\x01\x02" + bytes(24) + struct.pack("<HHHHHII", 1, 0, 0, 0, 0, 0, 0) + b"a"
        count = (40 << 20) // len(entry)
        central = entry * count
        path.write_bytes(central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, len(central), 0, 0))
        return path
    method = zipfile.ZIP_LZMA if variant == "lzma" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("softmax.py", solution)
        if variant == "bomb":
            archive.writestr("big.txt", bytes(200 << 20))
        if variant == "many_bombs":
            for number in range(150):
                archive.writestr(f"{number}.txt", bytes(1 << 20))
        if variant == "climbs":
            archive.writestr("../../escaped.py", "x = 1")
        if variant == "absolute":
            archive.writestr("/tmp/attack-was-here.py", "x = 1")
        if variant == "drive":
            archive.writestr("C:\\\\x.py", "x = 1")
        if variant == "backslash":
            archive.writestr("..\\\\..\\\\x.py", "x = 1")
        if variant == "case":
            archive.writestr("SOFTMAX.PY", "x = 1")
        if variant == "unicode":
            archive.writestr("soﬅmax.py", "x = 1")
            archive.writestr("so\ufb05max.py", "x = 2")
        if variant == "twice":
            archive.writestr("softmax.py", "x = 1")
        if variant == "file_and_folder":
            archive.writestr("softmax.py/x.py", "x = 1")
        if variant == "symlink":
            info = zipfile.ZipInfo("helper.py")
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
        if variant == "nested":
            inner = io.BytesIO()
            with zipfile.ZipFile(inner, "w") as zip_within:
                zip_within.writestr("softmax.py", solution)
            archive.writestr("inner.zip", inner.getvalue())
        if variant == "many_entries":
            for number in range(11_000):
                archive.writestr(f"e{number}", "")
        if variant == "long_name":
            archive.writestr("a" * 5000 + ".py", "")
        if variant == "deep":
            archive.writestr("a/" * 3000 + "x.py", "")
    data = bytearray(path.read_bytes())
    if variant == "encrypted":
        for mark in (b"PK\x03\x04", b"PK\x01\x02"):
            at = data.index(mark)
            data[at + (6 if mark[2] == 3 else 8)] |= 1
    if variant == "null_name":
        data = data.replace(b"softmax.py", b"softm\0x.py")
    if variant == "bad_encoding":
        data = data.replace(b"softmax.py", b"softm\xffx.py")
    if variant == "size_lies":
        at = data.index(b"PK\x01\x02")
        data[at + 24 : at + 28] = (5).to_bytes(4, "little")
    if variant == "truncated":
        data = data[: len(data) // 2]
    if variant == "corrupt":
        data[60:80] = bytes(20)
    if variant == "huge_dictionary":
        data = data.replace(b"PK\x03\x04", b"PK\x03\x04").replace(struct.pack("<H", 8), struct.pack("<H", 14))
    path.write_bytes(data)
    return path
