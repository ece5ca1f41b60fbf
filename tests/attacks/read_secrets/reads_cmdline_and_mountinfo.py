"""Line 5. Reads command lines, mounts and maps for paths of the host.

Expected: softmax=pass
Score at most: softmax=2
"""

import glob

for path in glob.glob("/proc/*/*") + glob.glob("/proc/self/*") + ["/proc/self/mountinfo", "/proc/mounts", "/proc/1/cmdline", "/proc/self/maps", "/etc/hostname", "/etc/passwd", "/etc/mtab"]:
    try:
        with open(path, errors="replace") as file:
            print(path, file.read(2000))
    except OSError:
        pass
