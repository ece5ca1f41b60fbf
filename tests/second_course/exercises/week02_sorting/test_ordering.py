"""Public checks for week 2. Run them with `pytest`."""


def test_merge_by_hand():
    from ordering import merge

    assert merge([1.0, 4.0], [2.0, 3.0, 5.0]) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_merge_sort_by_hand():
    from ordering import merge_sort

    assert merge_sort([3.0, 1.0, 2.0]) == [1.0, 2.0, 3.0]
