"""Probes of a cache for week 13's graders.

`agree.bringing` runs this source in the processes of the submission and of the solution.
"""

import torch


def _tensors(value, seen):
    """Yield all tensors that can be reached through attributes and containers."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield value
        return
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, (str, bytes, int, float)) or value is None:
        return
    elif hasattr(value, "__iter__"):
        parts = list(value)
    else:
        parts = list(getattr(value, "__dict__", {}).values())
    for part in parts:
        yield from _tensors(part, seen)


def stored_bytes(cache):
    """Return the bytes of memory that the tensors of a cache keep alive."""
    attributes = dict(getattr(cache, "__dict__", {}))
    for name in getattr(type(cache), "__slots__", ()):
        attributes[name] = getattr(cache, name, None)
    memory = [tensor.untyped_storage() for tensor in _tensors(attributes, set())]
    return sum({storage.data_ptr(): storage.nbytes() for storage in memory}.values())


def filled(cache, appended):
    """Append to a cache, and return it."""
    for k, v in appended:
        cache.append(k, v)
    return cache


def bytes_after(window, sinks, appended):
    """Return the bytes that a new cache keeps alive after these appends."""
    return stored_bytes(filled(submission.RollingCache(window, sinks), appended))  # noqa: F821 -- defined by `agree.bringing`


def earlier_results(cache, appended):
    """Return copies of all results, and whether later appends changed one of them."""
    results, copies = [], []
    for k, v in appended:
        result = cache.append(k, v)
        results.append(result)
        copies.append([x.clone() for x in result])
    changed = [
        not torch.equal(x, y)
        for result, copy in zip(results, copies, strict=True)
        for x, y in zip(result, copy, strict=True)
    ]
    return any(changed)


def input_stays_the_callers(cache, appended, new):
    """Change appended tensors afterwards, and return what the next append returns."""
    for k, v in appended:
        k, v = k.clone(), v.clone()
        cache.append(k, v)
        k.fill_(99.0)
        v.fill_(99.0)
    return [x.clone() for x in cache.append(*new)]
