"""Static analysis of submitted source code: rules, and the reasons for failing imports.

Submissions are hostile input: they are parsed, never run, and the size of every syntax tree is
bounded before parsing (`reachable.MAX_TOKENS`). `rules` is the entry point: it finds forbidden
names, evasions and unavailable imports in the code that an exercise reaches. `reachable` follows
names through the submitted files, `uses` resolves the names of one file, `statements` walks its top
level. `import_failure` explains to students why a module cannot be imported.
"""

__all__ = ["import_failure", "reachable", "rules", "statements", "uses"]
