"""Line 3. Looks for the kit among the installed distributions, and reads their files.

Expected: softmax=pass|forbidden|crashed
Score at most: softmax=2
"""

from importlib import metadata

for package in metadata.distributions():
    name = package.metadata["Name"]
    if name and "autograder" in name.lower():
        print("LOOT: the kit is installed:", name, package.files)
    for place in ("direct_url.json", "RECORD"):
        text = package.read_text(place) or ""
        if "autograder" in text or "solutions/" in text:
            print("LOOT: a record of the kit", name)
