"""Self-study on one's own machine: lessons in JupyterLab, hidden tests after each save, progress.

The site listens on 127.0.0.1 for one learner, who has no account. Theory of operation: the learner
and the code in the learner's folder are trusted as far as `autograder check` trusts them. Pages of
other sites and other programs on this machine are not trusted. A request needs the Host header of
the site and the cookie that is set when the printed address is opened, and a POST request needs
the Origin header of the site (`local_site`). JupyterLab has a separate token. The solutions are on
the disk of the clone, so the site hides them only until the learner decides to see them.

    learner saves a file ──► live_grading ──► grading process of `serve` ──► learner_record
                                                                                 │
    browser ◄── local_site ◄── progress_view ◄───────────────────────────────────┘

Start reading at `local_site`.
"""

__all__ = [
    "lab_server",
    "learner_record",
    "live_grading",
    "local_site",
    "own_figures",
    "progress_view",
]
