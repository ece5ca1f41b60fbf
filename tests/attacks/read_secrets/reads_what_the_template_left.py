"""Line 12. Looks in caches that a fork inherits: line cache, patterns, interned code, path caches, byte code.

Variants: lines importers patterns warnings modules loggers exits codecs
Expected: softmax=pass|forbidden
Score at most: softmax=2
"""

import linecache
import re
import sys

_caches = {
    "lines": lambda: list(linecache.cache),
    "importers": lambda: list(sys.path_importer_cache),
    "patterns": lambda: [str(k) for k in re._cache],
    "warnings": lambda: list(__import__("warnings").__dict__.get("onceregistry", {})),
    "modules": lambda: [getattr(m, "__file__", "") or "" for m in list(sys.modules.values())],
    "loggers": lambda: list(__import__("logging").root.manager.loggerDict),
    "exits": lambda: [__import__("atexit")._ncallbacks()],
    "codecs": lambda: [__import__("codecs").lookup("utf-8").name],
}
for thing in _caches[VARIANT]():
    if any(word in str(thing) for word in ("graders/", "solutions/", "misconceptions", "autograder/grading", "CANARY")):
        print("LOOT:", thing)
