"""Line 52. A module in odd bytes: line ends, marks, nulls late, a cookie on its second line, a shebang, other codes.

Variants: bom16 bom32 late_null late_bytes cookie_twice second_line raw_unicode unicode_escape punycode undefined base64 mbcs long_cookie latin formfeed_cookie overlong returns
Expected: graded|refused
Score at most: softmax=2
"""

def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    data = solution.encode()
    made = {
        "bom16": solution.encode("utf-16"),
        "bom32": solution.encode("utf-32"),
        "late_null": data + b"\n" * 70_000 + b"\0",
        "late_bytes": data + b"\n#" + b" " * 70_000 + b"\xff\n",
        "cookie_twice": b"# coding: utf-8\n# coding: rot13\n" + data,
        "second_line": b"\n# vim: set fileencoding=rot13 :\n" + data,
        "raw_unicode": b"# coding: raw_unicode_escape\n" + data,
        "unicode_escape": b"# coding: unicode_escape\n" + data,
        "punycode": b"# coding: idna\n" + data,
        "undefined": b"# coding: undefined\n" + data,
        "base64": b"# coding: base64\n" + data,
        "mbcs": b"# coding: mbcs\n" + data,
        "long_cookie": b"# coding: " + b"a" * 100_000 + b"\n" + data,
        "latin": b"# coding: latin-1\n" + data,
        "formfeed_cookie": b"\x0c# coding: utf-7\n" + data,
        "overlong": data + b"\n# \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80\n",
        "returns": data.replace(b"\n", b"\r"),
    }[variant]
    (root / "softmax.py").write_bytes(made)
    return root
