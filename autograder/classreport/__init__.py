"""The instructor's page about a class: scores, exercises, tests, misconceptions, similar modules.

Students choose the names of their submissions, so templates escape everything and the pages forbid
scripts. Start with `analysis`, which summarises reports; `page` reads and renders them.
"""
