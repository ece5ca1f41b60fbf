"""Read and maintain scores in nbgrader's gradebook, and store the reports behind them.

`database` reads the tables without importing nbgrader, and `final_scores` applies late penalties.
`report_store` stores the report of every submission, and `effective_results` decides which
submission counts. `due_dates` updates penalties and restores a lost assignment. Start reading at
`final_scores`.
"""
