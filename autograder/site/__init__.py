"""The students' site: static pages of the released weeks.

Each page is the week's lesson with its outputs, run once with the solution and cached. The leak
check examines every page before anything is written. Start with `build`.
"""

__all__ = ["build"]
