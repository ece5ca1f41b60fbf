"""Accept, merge, store and read submissions.

Submissions come from the exchange (`collector`, `exchange`, `safe_read`), learning platforms,
repositories and the web service; all pass through `submissions.accept`. `merging` keeps the parts
that are not resubmitted, `history` stores every submission, `earlier` restores an old one, `groups`
shares submissions within a group, and `cell_repair` and `notebooks` deal with damaged notebooks.

Not trusted: names, sizes, links and contents of all files. They are parsed within limits and never
run. A submission that cannot be graded never replaces one that can. Start with `submissions`.
"""

__all__ = [
    "cell_repair",
    "collector",
    "earlier",
    "exchange",
    "groups",
    "history",
    "merging",
    "notebooks",
    "safe_read",
    "submissions",
]
