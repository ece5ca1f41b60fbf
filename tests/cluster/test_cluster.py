"""Grading on a real cluster gives the same reports even if workers fail."""

from __future__ import annotations

import contextlib
import json
import shutil
import stat
import time
from pathlib import Path

import pytest

from autograder.batch.cluster import cluster_at, plaintext_warning
from autograder.model.errors import KitError

from .conftest import BIN, GOLDEN, KIT, Certificates

KINDS = sorted(p.name for p in (GOLDEN / "submissions").iterdir() if "forever" not in p.name)


def test_reports_are_those_of_this_machine_and_no_worker_keeps_the_course(
    cluster, handing_in
) -> None:
    for kind in KINDS:
        handing_in.hand_in(kind, kind)
    process = handing_in.start("--cluster", cluster.address)
    modes: set[int] = set()
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError):  # a folder may be removed meanwhile
            modes |= {stat.S_IMODE(p.stat().st_mode) for p in cluster.courses_held()}
        time.sleep(0.02)
    # 1: one submission was rejected
    assert process.returncode in (0, 1), process.communicate()
    process.communicate()
    reports = handing_in.reports()
    for kind in KINDS:
        golden = (GOLDEN / "expected" / f"{kind}.json").read_text(encoding="utf-8")
        assert reports[kind].split("\n") == golden.split("\n")
    assert modes == {0o700}, "the course's files are for the worker's owner alone"
    assert not cluster.courses_held()


@pytest.mark.thorough
def test_a_worker_killed_in_the_middle_costs_nothing_but_time(cluster, handing_in) -> None:
    for number in range(8):
        handing_in.hand_in("solution", f"student{number:02}", remark=str(number))
    victim = cluster.worker()
    process = handing_in.start("--cluster", cluster.address)
    while handing_in.stored() < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    victim.kill()
    said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    found = json.loads(handing_in.report.read_text(encoding="utf-8"))["submissions"]
    assert [(s["verdict"], s["score"]) for s in found] == [("graded", 5.0)] * 8


@pytest.mark.thorough
def test_without_a_worker_that_can_grade_nothing_is_graded_and_each_says_why(
    tls_cluster, handing_in, certificates, tmp_path
) -> None:
    tls_cluster.worker(PATH=str(BIN))  # no bwrap there
    shutil.copytree(
        KIT / "autograder", tmp_path / "autograder", ignore=shutil.ignore_patterns("graders")
    )
    with (tmp_path / "autograder" / "grading" / "compare.py").open("a") as file:
        file.write("# another tolerance\n")
    tls_cluster.worker(PYTHONPATH=str(tmp_path))
    handing_in.hand_in("solution", "ada")
    code, said = handing_in.grade("--cluster", tls_cluster.address, *certificates.to_grade())
    assert code == 2, said
    assert "every worker of the cluster refuses" in said
    assert "apt-get install bubblewrap" in said
    assert "on this machine but different code" in said
    assert said.count("worker tls://127.0.0.1:") == 2
    assert not handing_in.stored()


@pytest.mark.thorough
def test_what_some_workers_refuse_goes_to_the_others(tls_cluster, handing_in, certificates) -> None:
    tls_cluster.worker(PATH=str(BIN))
    tls_cluster.worker()
    handing_in.hand_in("solution", "ada")
    handing_in.hand_in("stub", "bob")
    code, said = handing_in.grade("--cluster", tls_cluster.address, *certificates.to_grade())
    assert code == 0, said
    assert "refuses to grade: no sandbox works here" in said
    found = json.loads(handing_in.report.read_text(encoding="utf-8"))["submissions"]
    assert [(s["name"], s["score"]) for s in found] == [("ada", 5.0), ("bob", 0.0)]
    assert not tls_cluster.courses_held(), "not even the tasks of a killed worker"


def test_no_certificate_of_the_authority_no_way_in(tls_cluster, handing_in, tmp_path) -> None:
    handing_in.hand_in("solution", "ada")
    stranger = Certificates(tmp_path, "stranger")
    code, said = handing_in.grade("--cluster", tls_cluster.address, *stranger.to_grade())
    assert code == 2, said
    assert "no scheduler answers at tls://" in said
    code, said = handing_in.grade("--cluster", tls_cluster.address)
    assert code == 2, said
    assert "give --tls-ca, --tls-cert and --tls-key" in said


@pytest.mark.parametrize(
    ("address", "files", "says"),
    [
        ("http://host:1", {}, "use tcp://host:8786"),
        ("host", {}, "use tcp://host:8786"),
        ("tcp://host:99999", {}, "use tcp://host:8786"),
        ("tcp://host:1", {"tls_ca": "ca.pem"}, "needs an address that starts with tls://"),
        ("tls://host:1", {"tls_ca": "ca.pem"}, "--tls-cert is missing"),
        ("tls://host:1", dict.fromkeys(("tls_ca", "tls_cert", "tls_key"), "/none"), "No such file"),
    ],
)
def test_a_bad_address_is_told_before_anything_is_sent(address, files, says) -> None:
    with pytest.raises(KitError, match=says):
        cluster_at(address, **files)


@pytest.mark.parametrize("address", ["tcp://grader.example.org:8786", "10.0.0.7:8786"])
def test_an_address_off_this_machine_without_tls_is_warned_of(address: str) -> None:
    assert "unencrypted" in plaintext_warning(cluster_at(address))


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "localhost:1", "[::1]:8786", "tls://grader.example.org:1"]
)
def test_an_address_on_this_machine_or_with_tls_is_not(address: str) -> None:
    assert not plaintext_warning(cluster_at(address))


@pytest.mark.parametrize(("options", "warned"), [((), True), (("--insecure",), False)])
def test_grade_warns_of_a_cluster_in_the_clear_unless_told_not_to(autograder, options, warned):
    address = "tcp://grader.example.org:8786"
    done = autograder("grade", "no-such-week", "--cluster", address, *options)
    assert ("sent unencrypted" in done.stderr) is warned, done.stderr


def test_nobody_at_the_address_is_one_line(handing_in, tmp_path: Path) -> None:
    handing_in.hand_in("solution", "ada")
    code, said = handing_in.grade("--cluster", "tcp://127.0.0.1:1")
    assert code == 2
    assert said.startswith("autograder: no scheduler answers at tcp://127.0.0.1:1")
