"""The students' site: static pages of the released weeks.

Each page shows a week's lesson, executed with the solution; executed lessons are cached. The leak
check examines every page before any page is written. Start with `build`. `course_map` is the
syllabus page, `search_index` the search page; `teaching` builds slides, notes and exams.
"""
