"""Week 2: putting numbers in order."""


def merge(first: list[float], second: list[float]) -> list[float]:
    """One sorted list from two.

    Args:
        first, second: Sorted lists, of any lengths.

    Returns:
        A new list with all their numbers, sorted.
    """
    # TODO: which of the two heads comes next?
    # BEGIN SOLUTION
    merged: list[float] = []
    left, right = 0, 0
    while left < len(first) and right < len(second):
        if first[left] <= second[right]:
            merged.append(first[left])
            left += 1
        else:
            merged.append(second[right])
            right += 1
    return merged + first[left:] + second[right:]
    # END SOLUTION


def merge_sort(values: list[float]) -> list[float]:
    """The values in order, by halving and merging.

    Args:
        values: Numbers in any order; the list stays as it is.

    Returns:
        A new sorted list.
    """
    # TODO: a list of at most one number is sorted.
    # BEGIN SOLUTION
    if len(values) < 2:
        return list(values)
    middle = len(values) // 2
    return merge(merge_sort(values[:middle]), merge_sort(values[middle:]))
    # END SOLUTION
