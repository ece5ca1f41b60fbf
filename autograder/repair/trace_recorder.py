"""The recorder of an instrumented program (`instrumentation`), and the format of its rows.

The function named NOTES returns all rows and deletes them. A row describes one value by a few
numbers, such as sums over its entries. Most of these numbers do not depend on the order of the
entries, so that permuted values can be recognised. The function named VALUES returns small values
themselves.
"""

NOTES = "_kit_notes"  # name of the function that returns all rows
# Name of the function that returns the values of some of the rows that NOTES returned last, by
# their indices; None for arrays with more than 64 entries.
VALUES = "_kit_values"
# Columns: the index of the expression, the kind of value, its dtype, whether it requires a
# gradient, the number of entries, and a number that depends on the shape.
NODE, KIND, TYPE, GRADIENT, COUNT, SHAPE = range(6)
# Sum, sum of squares, sum of magnitudes, largest, smallest, number of non-finite entries, sum of
# cubes; then two sums that depend on the order of the entries.
UNORDERED, ORDERED = slice(6, 13), slice(13, 15)
WIDTH = 15


def number_of_type(name: str) -> int:
    """Return the number in the column TYPE for a dtype, such as `torch.float32`."""
    return sum(ord(c) * (place + 1) for place, c in enumerate(name))


TENSOR, ARRAY, NUMBER, TEXT, LIST, ADDRESS = range(6)  # values of KIND
# The entries of a text are computed from its characters. At most 4 values of an expression and 2000
# rows in all are recorded. NaN is replaced by 0.7, and infinities by 3.3 with their sign, so that
# sums stay finite.
RECORDER = """
def _kit_recorder():
    import numpy, torch

    rows, seen, small, returned = [], {}, [], []
    waves = [numpy.empty(0), numpy.empty(0)]

    def type_of(x):
        return sum(ord(c) * (place + 1) for place, c in enumerate(str(x.dtype)))

    def noted():
        found = numpy.array(rows or numpy.empty((0, 15)), dtype="float64")
        returned[:] = small
        rows.clear(), seen.clear(), small.clear()
        return torch.from_numpy(found)

    def values(indices):
        return [returned[i] if i < len(returned) else None for i in indices]

    def entries(value):
        if isinstance(value, torch.Tensor):
            return value.detach().cpu().tolist() if value.numel() <= 64 else None
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            return value.tolist() if value.size <= 64 else None
        return value if type(value) in (int, float, bool) else None

    def numbers(node, kind, type_, gradient, x):
        shape, flat = x.shape, x.reshape(-1)
        finite = numpy.isfinite(flat)
        special = flat.size - int(finite.sum())
        if special:
            other = numpy.where(numpy.isnan(flat), 0.7, numpy.sign(flat) * 3.3)
            flat = numpy.where(finite, flat, other)
        if flat.size > waves[0].size:
            places = numpy.arange(flat.size)
            waves[:] = numpy.sin(places * 1.7 + 1.0), numpy.cos(places * 0.9)
        form = 0.0
        for axis, size in enumerate(shape):
            form += size * (axis + 1.37) ** 2
        high, low = (flat.max(), flat.min()) if flat.size else (0.0, 0.0)
        squares = flat * flat
        one, other = waves[0][: flat.size], waves[1][: flat.size]
        rows.append([
            node, kind, type_, gradient, flat.size, form,
            flat.sum(), squares.sum(), abs(flat).sum(), high, low, special, (squares * flat).sum(),
            (flat * one).sum(), (flat * other).sum(),
        ])

    def text(node, x):
        places = numpy.array([*map(ord, x[:4096])], dtype="float64")
        numbers(node, 3, 0, 0, numpy.sin(places * 1.3 + 0.2))

    def note(node, value):
        if seen.get(node, 0) < 4 and len(rows) < 2000:
            try:
                look(node, value)
            except OverflowError:  # an integer too large for a float
                pass
            if len(small) < len(rows):
                seen[node] = seen.get(node, 0) + 1
                small.append(entries(value))
        return value

    def look(node, value):
        kind = type(value)
        if kind in (int, float, bool):
            numbers(node, 2, 0, 0, numpy.array(value, dtype="float64"))
        elif isinstance(value, torch.Tensor):
            if not (value.is_meta or value.is_complex()) and value.numel() <= 65536:
                x = value.detach().cpu().double().numpy()
                numbers(node, 0, type_of(value), value.requires_grad, x)
        elif isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.kind in "biuf" and value.size <= 65536:
                numbers(node, 1, type_of(value), 0, value.astype("float64"))
        elif kind is str:
            text(node, value)
        elif kind in (tuple, list) and 0 < len(value) <= 4096:
            kinds = {*map(type, value)}
            if kinds <= {int, float, bool}:
                numbers(node, 4, 0, 0, numpy.array(value, dtype="float64"))
            elif kinds == {str}:
                text(node, chr(31).join(value))
            elif len(value) <= 4:
                for part in value:
                    if isinstance(part, (torch.Tensor, numpy.ndarray)):
                        note(node, part)
        elif kind.__module__.startswith("triton.") and kind.__name__ == "tensor":
            inside = getattr(getattr(value, "handle", None), "data", None)  # of the interpreter
            if not isinstance(inside, numpy.ndarray):
                return
            if inside.size < 2 and inside.dtype.kind != "f":  # a position or a size
                return
            if value.dtype.is_ptr():  # addresses differ between runs
                numbers(node, 5, 0, 0, numpy.zeros(1))
            else:
                note(node, inside)

    return note, noted, values


_kit_note, _kit_notes, _kit_values = _kit_recorder()
"""
