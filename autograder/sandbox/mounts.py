"""List the files on this host that a submission can see, for all backends.

Theory of operation. This module reads only the trusted installation. A submission can see only the
files that are listed here, except in the chroot backend (see its caveats):

* the base Python runtime without its site-packages;
* the folders in which the dynamic loader searches for shared libraries;
* the installed distributions that submissions may use, and all distributions that these require.
  The kit, nbgrader and other packages in the virtual environment are not included;
* the files of `autograder/worker/`;
* harmless device nodes and, if CUDA is requested, NVIDIA's device nodes and driver libraries.

The bytecode and metadata of these packages reveal the paths of the installation.
"""

import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder import worker
from autograder.model.errors import SandboxMissing

NEEDED = ("torch", "numpy", "matplotlib", "msgspec")
WELCOME = ("keras", "transformers", "scipy", "einops", "triton")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_WORKER = Path(worker.__file__).parent
PACKAGE_FOLDERS = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Visible:
    """Paths on this host that a submission can see.

    executable: the base Python interpreter, not the link in a virtual environment
    prefix:     installation prefix of the interpreter
    stdlib:     folder of the standard library
    libraries:  shared libraries that the dynamic loader finds, or the folders that contain them
    packages:   host paths of installed packages and modules, by path relative to site-packages
    worker:     host paths of the worker's files, by path relative to the worker package
    devices:    harmless device nodes, and GPU device nodes if requested
    driver:     GPU libraries outside the search path of the dynamic loader
    """

    executable: Path
    prefix: Path
    stdlib: Path
    libraries: tuple[Path, ...]
    packages: dict[str, Path]
    worker: dict[str, Path]
    devices: tuple[str, ...]
    driver: tuple[Path, ...] = ()

    def readable_by_others(self) -> bool:
        """Return True if all users may read the listed files, ignoring their parent folders."""
        places = (self.stdlib / "os.py", *self.packages.values(), *self.worker.values())
        return all(os.stat(place).st_mode & 0o004 for place in places)

    def open_to_others(self) -> bool:
        """Return True if all users may read the libraries and traverse their parent folders."""
        places = (self.stdlib / "os.py", *self.packages.values())
        folders = {folder for place in places for folder in place.parents}
        modes = [os.stat(place).st_mode >> 2 for place in places]
        return all(mode & 1 for mode in (*modes, *(os.stat(f).st_mode for f in folders)))


def visible_paths(runtime: Path | None, *, cuda: bool) -> Visible:
    """Return the paths that a submission can see.

    runtime: file that replaces `worker/server.py`, or None
    cuda:    whether to include the device nodes and libraries of NVIDIA GPUs
    """
    files = {path.relative_to(_WORKER).as_posix(): path for path in sorted(_WORKER.rglob("*.py"))}
    if runtime is not None:
        files["server.py"] = runtime.resolve()
    prefix = Path(sys.base_prefix).resolve()
    # libpython and the other libraries of a Python that is installed outside of /usr
    own_libraries = [] if prefix == Path("/usr") else sorted((prefix / "lib").glob("*.so*"))
    graphics = graphics_nodes(Path("/dev")) if cuda else []
    folders = _loader_folders()
    return Visible(
        executable=Path(getattr(sys, "_base_executable", sys.executable)).resolve(),
        prefix=prefix,
        stdlib=Path(sysconfig.get_path("stdlib")).resolve(),
        libraries=(*folders, *own_libraries),
        packages=_packages(),
        worker=files,
        devices=(*DEVICES, *graphics),
        driver=driver_libraries(folders) if cuda else (),
    )


def stdlib_entries(stdlib: Path) -> Iterator[Path]:
    """Return the entries of the standard library's folder, except folders of installed packages."""
    return (path for path in stdlib.iterdir() if path.name not in PACKAGE_FOLDERS)


def _loader_folders() -> list[Path]:
    """Return the system libraries that the dynamic loader finds, or folders that contain them."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{platform.machine()}-linux-gnu"
    named = [Path(f"/usr/lib/{multiarch}"), Path(f"/lib/{multiarch}")]
    named += [Path("/usr/lib64"), Path("/lib64")]
    found = [path for path in named if path.is_dir()]
    found += sorted(Path("/lib").glob("ld-linux-*.so*"))
    # Linux distributions such as Arch install all libraries directly in /usr/lib
    return found + sorted(Path("/usr/lib").glob("*.so*"))


def graphics_nodes(folder: Path) -> list[str]:
    """Return the NVIDIA device nodes for computing, but not those for display or debugging.

    `nvidia-caps` contains the nodes of GPU instances (MIG).
    """
    kinds = re.compile(r"nvidia(?:\d+|ctl|-uvm|-caps)")
    return sorted(str(path) for path in folder.glob("nvidia*") if kinds.fullmatch(path.name))


def driver_libraries(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Return the GPU driver's libraries, or () if they are in `folders` or not installed."""
    if any((folder / _CUDA).exists() for folder in folders):
        return ()
    named = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    for folder in map(Path, (*named, *_DRIVER_FOLDERS)):
        if (folder / _CUDA).exists():
            return tuple(sorted(p for kind in _DRIVER_FILES for p in folder.glob(kind)))
    return ()


_CUDA = "libcuda.so.1"
_DRIVER_FILES = ("libcuda.so*", "libcudadebugger.so*", "libnvidia-*.so*")
_DRIVER_FOLDERS = (
    *("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/local/cuda/compat"),
    *("/usr/lib/wsl/lib", "/run/opengl-driver/lib"),
)


@cache
def _packages() -> dict[str, Path]:
    places: dict[str, Path] = {}
    for distribution in required_distributions():
        for place in _places(distribution):
            places[place] = Path(str(distribution.locate_file(place))).resolve()
    return places


def required_distributions() -> list[metadata.Distribution]:
    """Return the installed distributions that submissions may use, with all their requirements.

    Includes extras that a requirement names, because torch requires CUDA libraries through extras.
    Raises SandboxMissing if a distribution in `NEEDED` was not installed by pip.
    """
    found: dict[str, metadata.Distribution | None] = {}
    asked = set[tuple[str, str]]()
    wanted = [(name, "") for name in (*NEEDED, *WELCOME)]
    while wanted:
        given, extra = wanted.pop()
        name = canonicalize_name(given)
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        if name not in found:
            found[name] = _installed(name)
        distribution = found[name]
        for text in (distribution.requires or ()) if distribution is not None else ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                wanted += ((requirement.name, e) for e in ("", *requirement.extras))
    missing = [name for name in NEEDED if found[canonicalize_name(name)] is None]
    if missing:
        raise SandboxMissing(f"{', '.join(missing)} must be installed with pip")
    return [distribution for distribution in found.values() if distribution is not None]


def _installed(name: str) -> metadata.Distribution | None:
    """Return a distribution, or None if it is not installed or does not list its files."""
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    return distribution if distribution.read_text("RECORD") else None


def _places(distribution: metadata.Distribution) -> set[str]:
    """Return the names of a distribution's top-level folders and modules.

    RECORD is parsed here because `Distribution.files` takes a third of a second for torch.
    """
    record = distribution.read_text("RECORD") or ""
    places = {line.rsplit(",", 2)[0].strip('"').partition("/")[0] for line in record.splitlines()}
    return {
        place
        for place in places - {"", "..", "__pycache__"}
        if not place.endswith(".pth") and os.path.exists(str(distribution.locate_file(place)))
    }
