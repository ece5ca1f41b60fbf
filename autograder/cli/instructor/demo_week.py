"""`demo`: run a sample week with nbgrader and the instructor's commands."""

import os

from ...model.course import load
from ...model.course.bank import Bank
from ..output import counting, print_attention
from .class_report import report
from .grading import feedback, grade
from .overview import status


def demo() -> bool:
    """Run one week of the course in demo/, with nbgrader and a sample class of twelve students.

    Example: autograder demo
    """
    from ...nbgrader.collect.collector import collect
    from ...nbgrader.demo import fetch_feedback, make_project, sample_class, submit
    from ...nbgrader.gradebook.report_store import stored_reports
    from ...nbgrader.release.publish import release

    project = load()
    students, course = sample_class(project), make_project(project)
    week, homes = course.weeks[0], {}
    os.chdir(course.root)  # so that the commands load the demo's course
    print(f"$ autograder release {week.name} --early", flush=True)
    release(course, week, early=True)
    bank = Bank(course, week)
    with counting("students fetch the week and submit it", len(students)) as advance:
        for student in students:
            homes[student.name] = submit(course, week, bank, student)
            advance()
    for student in students:
        print(f"{student.name} submits: {student.story}")
    print(f"\n$ autograder collect {week.name}", flush=True)
    print_attention(collect(course, week, check_owner=False).notes)  # one user owns all submissions
    print(f"\n$ autograder grade {week.name}", flush=True)
    grade(week.name)
    print(f"\n$ autograder feedback {week.name} --unmarked", flush=True)
    feedback(week.name, unmarked=True)
    print(f"\n$ autograder report {week.name} --names", flush=True)
    report(week.name, names=True)
    print(f"\n$ autograder status {week.name}", flush=True)
    status(week.name)
    print("\nThe students fetched their feedback; open a page in a browser:")
    for name, home in homes.items():
        if page := fetch_feedback(course, week, name, home):
            print(page.relative_to(project.root))
    return len(stored_reports(course, week)) == len(students)
