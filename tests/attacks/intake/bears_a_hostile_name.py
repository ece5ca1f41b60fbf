"""Line 53. Names of submissions and files contain shell, markup and terminal characters.

Variants: shell markup escape option dots spaces newline right_to_left template rich quotes
Expected: graded|refused
Score at most: softmax=2
"""

_NAMES = {
    "shell": "ada; touch attack-was-here; $(touch attack-was-here) `touch attack-was-here`",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "escape": "\x1b]0;owned\x07\x1b[31mada",
    "option": "--json",
    "dots": "...",
    "spaces": "  ",
    "newline": "ada\nbob: 100",
    "right_to_left": "ada\u202etxt",
    "template": "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "rich": "[red]ada[/red][link=http://x]x[/link]",
    "quotes": "'\"`\\\\",
}


def make(folder, variant, solution):
    name = _NAMES[variant].replace("/", "∕")
    root = folder / name
    root.mkdir()
    (root / "softmax.py").write_text(solution)
    (root / f"{name}.py").write_text("x = 1")
    return root
