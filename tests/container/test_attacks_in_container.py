"""Every attack of tests/attacks, against the sandbox that such a container allows."""

from __future__ import annotations

import shutil
import subprocess

from tests.container.rootfs import PROJECT, Container

# These attacks gain no points either. The first is told "crashed" and not "forbidden", for without
# a pid namespace no signal may be sent; thousands of folders take longer to remove than to drop;
# and a whole system's files may take longer to walk through than a call may last.
OTHERWISE = {
    "forge/takes_frames_to_blind_the_watcher-handler",
    "exhaust/fills_its_disk-folders",
    "read_secrets/opens_tests_and_solutions",
}


def test_every_attack_fails_there_too(container: Container) -> None:
    project = container.base / "project"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(mode=0o700)
    named = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(named, cwd=PROJECT, capture_output=True, check=True).stdout
    pack = ["tar", "cf", "-", "-T", "-"]
    packed = subprocess.run(pack, cwd=PROJECT, input=files, capture_output=True, check=True).stdout
    subprocess.run(["tar", "xf", "-", "-C", str(project)], input=packed, check=True)
    tests = "cd /autograder/project && exec /usr/local/grading/bin/python -m pytest"
    attacks = "tests/attacks/test_attacks.py tests/attacks/test_forging.py"
    done = container.run(
        *("bash", "-c", f"{tests} -q -p no:cacheprovider -rf {attacks}"),
        AUTOGRADER_ATTACKED="chroot",
        OMP_NUM_THREADS="1",
    )
    failed = {line.split("[")[-1].split("]")[0] for line in done.stdout.splitlines()
              if line.startswith("FAILED")}  # fmt: skip
    assert failed <= OTHERWISE, done.stdout[-5000:]
    assert "passed" in done.stdout
