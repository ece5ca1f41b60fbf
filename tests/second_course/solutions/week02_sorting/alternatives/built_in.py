"""With Python's own tools."""

import heapq


def merge(first, second):
    return list(heapq.merge(first, second))


def merge_sort(values):
    return sorted(values)
