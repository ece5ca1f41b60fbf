"""Line 3. Reads every small file that it can find, and every place where tests or solutions might be.

Expected: softmax=pass
Score at most: softmax=2
"""

import os

_SKIP = ("/packages", "/runtime", "/usr", "/lib", "/lib64", "/cache", "/proc", "/sys", "/dev")
for folder, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if not os.path.join(folder, f).startswith(_SKIP)][:50]
    for name in files:
        path = os.path.join(folder, name)
        try:
            if os.path.getsize(path) < 300_000:
                text = open(path, errors="replace").read()
                print(path, "CANARY" in text and text[text.index("CANARY") :][:60])
        except OSError:
            pass
for place in ("/dev/shm", "/root", "/home", "/work", "/srv", "/mnt", "/host", "/oldroot", "/proc/1/root", "/proc/1/cwd"):
    for path in ("", "course.yaml", "solutions", "autograder/graders", ".autograder/secret"):
        try:
            entry = os.path.join(place, path)
            found = os.listdir(entry) if os.path.isdir(entry) else open(entry).read()
            print("LOOT:" if found else "empty", entry, found)
        except OSError:
            pass
