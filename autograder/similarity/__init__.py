"""Find students who may have copied a module.

`compare` ranks all pairs of a class by how surprising their similarity is; `collected_modules`
applies it to the collected submissions of a week. The result does not prove anything. Start reading
at `compare`.
"""

__all__ = ["collected_modules", "compare", "normalize"]
