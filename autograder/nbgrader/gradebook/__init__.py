"""Scores in nbgrader's gradebook, and the stored reports behind them.

`database` reads the tables without importing nbgrader; `transfer` records a class and returns final
scores. `report_store` has the report of every submission, `effective_results` decides which one
counts, `late_penalty` and `due_dates` keep penalties up to date, and `rebuild` fills a lost
gradebook again. Start with `transfer`.
"""

__all__ = [
    "database",
    "due_dates",
    "effective_results",
    "export_plugin",
    "late_penalty",
    "rebuild",
    "report_store",
    "transfer",
]
