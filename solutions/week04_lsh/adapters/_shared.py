"""Functions of this week's adapters, which are placed in front of each of them."""


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
