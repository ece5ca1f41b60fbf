"""A root filesystem like the image that Gradescope builds, and commands in it.

Made once: Debian by debootstrap, our zip unpacked into /autograder/source, our setup.sh run.
It needs root, debootstrap, a mirror of Debian and a package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIKE_DOCKER = Path(__file__).with_name("like_docker.py")
PACKAGES = "python3,python3-venv,libseccomp2,ca-certificates"
_INDEX = ("PIP_", "SSL_CERT", "REQUESTS_CA", "HTTP_PROXY", "HTTPS_PROXY", "https_proxy")


class Container:
    """One root filesystem; `run` enters it as Docker would let a grader."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.base = root / "autograder"

    def run(
        self, *command: str, options: tuple[str, ...] = (), **env: str
    ) -> subprocess.CompletedProcess[str]:
        enter = ("unshare", "--mount", "--pid", "--fork", sys.executable, str(LIKE_DOCKER))
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", **env}
        inside = ("env", "-i", *(f"{k}={v}" for k, v in clean.items()), *command)
        return subprocess.run(
            [*enter, str(self.root), *options, "--", *inside],
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    def hand_in(self, files: dict[str, str]) -> None:
        """Replace the folder with a submission, as Gradescope does."""
        for name in ("submission", "results"):
            shutil.rmtree(self.base / name, ignore_errors=True)
            (self.base / name).mkdir()
        for name, text in files.items():
            (self.base / "submission" / name).write_text(text, "utf-8")
        (self.base / "submission_metadata.json").write_text('{"users": []}')
        shutil.rmtree(self.base / "source" / ".autograder" / "results", ignore_errors=True)

    def grade(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.run("bash", "/autograder/source/run_autograder", options=options)


def built(root: Path, package: bytes) -> Container:
    """The image with this zip; an image that is there is used again."""
    container = Container(root)
    if not (root / "usr" / "bin" / "python3").exists():
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        made = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(root)]
        subprocess.run([*made, mirror], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(container.base, ignore_errors=True)
    (container.base / "source").mkdir(parents=True)
    (root / "zip").write_bytes(package)
    with zipfile.ZipFile(root / "zip") as archive:
        archive.extractall(container.base / "source")  # our own
    (root / "zip").unlink()
    if not (root / "usr" / "local" / "grading").exists():
        _set_up(container)
    return container


def _set_up(container: Container) -> None:
    """setup.sh, as the image is built: with a network, under the same restrictions."""
    for name in ("etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt"):
        shutil.copyfile(f"/{name}", container.root / name)
    env = {k: v for k, v in os.environ.items() if k.startswith(_INDEX)}
    wheels = Path(env.get("PIP_FIND_LINKS", "/nowhere"))
    if wheels.is_dir():
        shutil.copytree(wheels, f"{container.root}{wheels}", dirs_exist_ok=True)
    env.setdefault("TORCH_INDEX", os.environ.get("TORCH_INDEX", "https://pypi.org/simple"))
    done = container.run("bash", "/autograder/source/setup.sh", **env)
    if done.returncode:
        raise RuntimeError(done.stdout[-3000:])
