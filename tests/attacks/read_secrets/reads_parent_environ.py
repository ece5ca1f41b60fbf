"""Line 4. Reads the environment of every process that it can see.

Expected: softmax=pass
Score at most: softmax=2
Tries: /proc
"""

import glob

for path in glob.glob("/proc/*/environ") + ["/proc/self/environ", "/proc/1/environ"]:
    try:
        text = open(path, "rb").read()
        print(path, text)
        if text:
            print("LOOT: an environment")
    except OSError:
        pass
