"""Line 48. Fills the disk with data or with empty files.

Variants: data inodes folders links
Expected: softmax=crashed|limit|timeout
Score at most: softmax=0
"""

import os


def softmax(x, dim=-1):
    for place in (".", "/tmp", "/dev/shm", "/var/tmp", "/"):
        for number in range(10**6):
            if VARIANT == "data":
                with open(os.path.join(place, f"f{number}"), "wb") as file:
                    file.write(bytes(1 << 20))
            elif VARIANT == "folders":
                os.mkdir(os.path.join(place, f"d{number}"))
            elif VARIANT == "links":
                os.symlink("x", os.path.join(place, f"l{number}"))
            else:
                open(os.path.join(place, f"e{number}"), "w").close()
