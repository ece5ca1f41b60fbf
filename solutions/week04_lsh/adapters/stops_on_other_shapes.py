"""Works for one number of leading dimensions, and stops on others.

Exercise: hash_vectors
Believes: Inputs have the shapes of the example.
Shows: An error for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Find the line that stops with no leading dimensions, and
    with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""


def _fitted(function, own, *given):
    """Call as given, else with another number of leading dimensions. `own`: axes to keep."""
    first = None
    for axes in (None, 1, 2, 0):
        try:
            return _with_axes(axes, function, own, given)
        except Exception as error:
            first = first or error
    raise first


def _with_axes(axes, function, own, given):
    if axes is None:
        return function(*given)
    lead = given[0].shape[: given[0].ndim - own[0]]
    if axes == 0:
        rows = zip(*(x.reshape(-1, *x.shape[x.ndim - n :]) for x, n in zip(given, own)))
        results = [torch.stack(part) for part in zip(*(_parts(function(*row)) for row in rows))]
        axes = 1
    else:
        front = (1,) * (axes - len(lead)) + lead
        if len(front) > axes:
            front = (1,) * (axes - 1) + (lead.numel(),)
        results = _parts(
            function(*(x.reshape(*front, *x.shape[x.ndim - n :]) for x, n in zip(given, own)))
        )
    shaped = [x.reshape(*lead, *x.shape[axes:]) for x in results]
    return shaped[0] if len(shaped) == 1 else tuple(shaped)


def _parts(result):
    return result if isinstance(result, tuple) else (result,)


_given = hash_vectors


def hash_vectors(x, rotations):
    return _fitted(lambda part: _given(part, rotations), (2,), x)
