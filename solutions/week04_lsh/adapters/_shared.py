"""Functions of this week's adapters, which are placed in front of each of them."""


def _fitted(function, own, *given):
    """Call as given, else with another number of leading dimensions. `own`: axes to keep.

    Every result starts with the leading dimensions. If no call returns such results, return the
    results of the call as given.
    """
    lead, first = given[0].shape[: given[0].ndim - own[0]], None
    for axes in (None, 1, 2, 0):
        try:
            results = _with_axes(axes, lead, function, own, given)
            if all(x.shape[: len(lead)] == lead for x in results):
                return results[0] if len(results) == 1 else tuple(results)
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
    return function(*given)


def _with_axes(axes, lead, function, own, given):
    """Return the results of a call in which arguments have `axes` leading dimensions.

    None keeps the leading dimensions; 0 calls the function for each row.
    """
    if axes is None:
        return _parts(function(*given))
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
    return [x.reshape(*lead, *x.shape[axes:]) for x in results]


def _parts(result):
    return result if isinstance(result, tuple) else (result,)
