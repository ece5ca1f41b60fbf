"""Line 51. Folders with misleading links, sparse files, names and file types.

Variants: hard_link_to_secret link_in_the_middle link_to_itself device_full socket hole name_with_newline name_of_option name_too_wide twin_by_case twin_by_form write_only folder_unreadable module_is_folder
Expected: refused|graded
Score at most: softmax=2
"""

import os
import socket


def make(place, variant, solution):
    path = place / "mallory"
    path.mkdir()
    module = path / "softmax.py"
    module.write_text(solution)
    if variant == "hard_link_to_secret":
        (place / "secret.txt").write_text("CANARY-left-behind")
        os.link(place / "secret.txt", path / "notes.txt")
    elif variant == "link_in_the_middle":
        (path / "data").symlink_to("/etc")
    elif variant == "link_to_itself":
        (path / "loop").symlink_to(".")
    elif variant == "device_full":
        (path / "a.txt").symlink_to("/dev/zero")
    elif variant == "socket":
        here = os.getcwd()
        os.chdir(path)
        try:
            one = socket.socket(socket.AF_UNIX)
            one.bind("s.py")
            one.close()
        finally:
            os.chdir(here)
    elif variant == "hole":
        with (path / "a.npy").open("wb") as file:
            file.truncate(1 << 42)
    elif variant == "name_with_newline":
        (path / "a\n[31m\x1b[2J.py").write_text("")
    elif variant == "name_of_option":
        (path / "--help.py").write_text("")
    elif variant == "name_too_wide":
        (path / ("\U0001f600" * 60 + ".py")).write_text("")
    elif variant == "twin_by_case":
        (path / "SOFTMAX.py").write_text("raise SystemExit")
    elif variant == "twin_by_form":
        (path / "e\u0301.py").write_text("")
        (path / "\u00e9.py").write_text("")
    elif variant == "write_only":
        os.chmod(module, 0o200)
    elif variant == "folder_unreadable":
        (path / "x").mkdir(mode=0o000)
    elif variant == "module_is_folder":
        module.unlink()
        module.mkdir()
        (module / "softmax.py").write_text(solution)
    return path
