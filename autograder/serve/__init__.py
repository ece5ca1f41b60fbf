"""Grading at hand-in: a service with a queue, a web page, and an eye on nbgrader's exchange.

Theory of operation. Students and whoever can reach the port may be lying: in names, in files, in
headers, in how often they ask. Promised: nothing is parsed before its sender is known and its size
and rate are within bounds (`guard`, `routes`); a student sees their own work and nobody else's
(`people`); what is told before feedback is returned holds no hidden input and no expected value
(`told`); no name that was sent is ever a path but for file names that pass a list of plain
characters (`parcel`); a receipt is given only for what lies safely in the database, and is honoured
once, whatever is killed when (`queue`, `settle`). Submissions are run by the engine in its sandbox,
in processes of their own (`lanes`), never here. The score that counts goes to the same store and
gradebook as that of `autograder grade`.

    web page, `autograder submit` ──► routes ─┐
    nbgrader's exchange ──────────► inbox ────┴► queue ──► dispatch ──► lanes ──► results
                                                                                    │
                   gradebook, feedback in the exchange ◄── settle ◄─────────────────┘
"""
