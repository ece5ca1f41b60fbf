"""Static analysis of submitted source code: rules, and explanations of failed imports.

Submissions are hostile input. They are parsed but never run, and their size is checked before
parsing, because it bounds the memory that the syntax tree needs (`reachable.MAX_TOKENS`). `rules`
is the entry point: it finds forbidden names, evasions and unavailable imports in the code that an
exercise reaches. `reachable` follows names through the submitted files, `uses` resolves the names
of one file, and `statements` analyses top-level statements. `import_failure` tells students why a
module cannot be imported.
"""
