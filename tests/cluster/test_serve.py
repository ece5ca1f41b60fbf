"""The service with a cluster that does the grading. `make e2e` runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.model.course import load
from autograder.nbgrader.release.publish import release
from tests.cluster.conftest import Nodes
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write_course
from tests.serve.conftest import FUTURE
from tests.serve.running import Running, hand_in, result, running

pytestmark = pytest.mark.skipif(not os.environ.get("AUTOGRADER_E2E"), reason="`make e2e` runs it")


def test_workers_of_a_cluster_grade_what_is_handed_in(tmp_path: Path) -> None:
    root = tmp_path / "course"
    write_course(root)
    (root / "course.yaml").write_text(FUTURE, "utf-8")
    course = load(root)
    release(course, course.weeks[0])
    (root / "class.csv").write_text("student,name\nada,\nalan,\n", "utf-8")
    Running(root).command("roster", str(root / "class.csv"))
    (tmp_path / "tmp").mkdir()
    nodes = Nodes(tmp_path / "nodes", [], tmp_path / "tmp")
    try:
        nodes.worker()
        with running(Running(root, "--device", "cpu", "--cluster", nodes.address)) as service:
            clients = {name: service.enter(token) for name, token in service.tokens().items()}
            for number in range(2):
                work = {"doubling.py": f"{SOLUTION}# {number}\n".encode()}
                given = {n: hand_in(c, WEEK, work)["receipt"] for n, c in clients.items()}
                for name, receipt in given.items():
                    told = result(clients[name], receipt)["result"]
                    assert {e["state"] for e in told["exercises"]} == {"complete"}
            for client in clients.values():
                client.close()
    finally:
        nodes.end()
