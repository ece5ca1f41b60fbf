"""Scores in nbgrader's gradebook, and the stored reports behind them.

`database` reads the tables without importing nbgrader; `final_scores` returns them after late
penalties. `report_store` has the report of every submission, `effective_results` decides which one
counts, `due_dates` keeps penalties up to date and restores a lost assignment. Start with
`final_scores`.
"""

__all__ = [
    "database",
    "due_dates",
    "effective_results",
    "export_plugin",
    "final_scores",
    "report_store",
]
