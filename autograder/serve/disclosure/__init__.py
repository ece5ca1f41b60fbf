"""Limits on visible results before feedback is released.

A submission may try to reveal hidden inputs through its results. `visible_results` redacts a report
according to `immediate` in course.yaml, and `allowance` limits the number of visible results. Pages
and commands render only `VisibleResult`, so they cannot reveal more. Start reading at
`visible_results`.
"""

__all__ = ["allowance", "result_comparison", "visible_results"]
