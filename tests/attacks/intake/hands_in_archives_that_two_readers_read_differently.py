"""Line 52. Zips that two readers interpret differently: two lists, two names, two sizes.

Variants: local_name unicode_extra stream trailing_dot trailing_space device_name turned folder_named_module two_lists comment_holds_list strong_encryption stored_size future_version symlink_by_attribute pipe_by_attribute quine
Expected: refused|graded
Score at most: softmax=2
"""

import io
import struct
import zipfile


def _zip(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for info, data in files:
            archive.writestr(info, data)
    return stream.getvalue()


def _entry(name, mode=0o644 << 16, extra=b""):
    info = zipfile.ZipInfo(name)
    info.external_attr, info.extra = mode, extra
    return info


def make(place, variant, solution):
    path = place / "mallory.zip"
    good, evil = solution.encode(), b"raise SystemExit('another file')\n"
    data = _zip([(_entry("softmax.py"), good)])
    names = {
        "stream": "softmax.py:evil.py", "trailing_dot": "softmax.py.", "trailing_space": "softmax.py ",
        "device_name": "CON.py", "turned": "softmax\u202eyp.py", "folder_named_module": "softmax.py/x.py",
    }
    if variant in names:
        data = _zip([(_entry("softmax.py"), good), (_entry(names[variant]), evil)])
    elif variant == "local_name":
        data = data.replace(b"softmax.py", b"../evil.py", 1)
    elif variant == "unicode_extra":
        name = b"../../../../tmp/attack-evil.py"
        extra = struct.pack("<HHBI", 0x7075, 5 + len(name), 1, zipfile.crc32(b"softmax.py")) + name
        data = _zip([(_entry("softmax.py", extra=extra), good)])
    elif variant == "two_lists":
        data = _zip([(_entry("softmax.py"), evil)]) + data
    elif variant == "comment_holds_list":
        with zipfile.ZipFile(stream := io.BytesIO(), "w") as archive:
            archive.writestr(_entry("softmax.py"), good)
            archive.comment = _zip([(_entry("softmax.py"), evil)])
        data = stream.getvalue()
    elif variant in ("strong_encryption", "future_version", "stored_size"):
        changed = bytearray(data)
        central = changed.index(b"PK\x01\x02")
        if variant == "strong_encryption":
            struct.pack_into("<H", changed, central + 8, 0x41)
        elif variant == "future_version":
            struct.pack_into("<H", changed, central + 6, 99)
        else:
            struct.pack_into("<I", changed, central + 24, 10)
        data = bytes(changed)
    elif variant in ("symlink_by_attribute", "pipe_by_attribute"):
        mode = (0o120777 if variant.startswith("s") else 0o010644) << 16
        data = _zip([(_entry("softmax.py", mode), b"/etc/passwd")])
    elif variant == "quine":
        data = _zip([(_entry("softmax.zip"), data), (_entry("mallory.zip"), data)])
    path.write_bytes(data)
    return path
