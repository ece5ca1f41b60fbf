"""Line 51. A submission contains links, pipes, devices and sockets.

Variants: symlink symlinked_helper symlinked_folder loop fifo device socket folder hardlink
Expected: refused|graded
Score at most: softmax=2
"""

import os
import socket
import stat


def make(folder, variant, solution):
    root = folder / "ada"
    root.mkdir()
    module, target = root / "softmax.py", folder / "other.py"
    target.write_text(solution + "\n# CANARY-linked\n")
    if variant == "symlink":
        module.symlink_to(target)
    elif variant == "symlinked_helper":
        module.write_text(solution)
        (root / "helper.py").symlink_to("/etc/passwd")
    elif variant == "symlinked_folder":
        os.rmdir(root)
        (folder / "real").mkdir()
        (folder / "real" / "softmax.py").write_text(solution)
        root.symlink_to(folder / "real")
    elif variant == "loop":
        module.write_text(solution)
        (root / "again").symlink_to(root)
    elif variant == "fifo":
        os.mkfifo(module)
    elif variant == "device":
        os.mknod(module, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    elif variant == "socket":
        here = os.getcwd()
        os.chdir(root)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind("softmax.py")
        os.chdir(here)
    elif variant == "folder":
        module.mkdir()
    else:
        os.link(target, module)
    return root
