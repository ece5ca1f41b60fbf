"""Line 34. Writes inputs into caches of libraries, for its next process.

Expected: softmax=pass
Score at most: softmax=2
"""

import os
import pathlib
import tempfile

_honest = softmax
_places = [tempfile.gettempdir(), os.path.expanduser("~"), "/var/tmp", torch.__path__[0], np.__path__[0], os.path.dirname(os.__file__) + "/__pycache__", "/dev/shm", "/dev/mqueue"]


for place in _places:
    note = pathlib.Path(place) / "seen_by_mallory"
    try:
        if note.exists():
            print("LOOT: an earlier process left", note.read_text())
    except OSError:
        pass


def softmax(x, dim=-1):
    for place in _places:
        try:
            (pathlib.Path(place) / "seen_by_mallory").write_text("seen")
        except OSError:
            pass
    return _honest(x, dim)
