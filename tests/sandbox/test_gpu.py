"""Submissions share a GPU. Tests that need a CUDA device are skipped without one."""

import msgspec
import pytest
import torch

from autograder.grading.targets.confined_process import Spawner
from autograder.grading.targets.sandboxed import Sandboxed
from autograder.model.availability import has_cuda
from autograder.model.course import load
from autograder.sandbox import BACKENDS, Child, ChildLimits
from autograder.worker.protocol import frames
from tests.sandbox.sandbox_inside import STAND_IN, ask

needs_gpu = pytest.mark.skipif(not has_cuda(), reason="no CUDA device")

MODULE = b"""
import torch

def fill(mib):
    x = torch.zeros(mib << 20, dtype=torch.uint8, device="cuda")
    return x.numel() >> 20
"""


@pytest.fixture
def fill(project, backend):
    """The reply to filling so many MiB of a GPU of which a submission may have 512."""
    course = load(project)
    week = course.weeks[0]
    limits = msgspec.structs.replace(course.limits(week), gpu_mib=512)
    spawner = Spawner(BACKENDS[backend](), course, week, ("cpu", "cuda"), limits)
    targets = []

    def call(mib):
        target = Sandboxed(spawner.spawn, "m.py", {"m.py": MODULE}, limits, gpu=True)
        targets.append(target)
        target.begin("test", "fill")
        return target.request(
            frames.pack(frames.Call("fill", None, "fill", (mib,), {}, "cpu"), [])
        )[0]

    yield call
    for target in targets:
        target.close()
    spawner.end()


@needs_gpu
def test_a_submission_that_keeps_to_the_bound_works(fill):
    assert fill(256).value == 256


@needs_gpu
def test_a_submission_gets_no_more_of_the_gpu_than_its_bound(fill):
    reply = fill(1024)
    assert reply.status == "raised"
    assert "OutOfMemoryError" in reply.raised.bases


@needs_gpu
def test_two_submissions_share_the_gpu(fill):
    assert [fill(400).value, fill(400).value] == [400, 400]


@pytest.mark.skipif(torch.version.cuda is not None, reason="a torch with CUDA must find one")
def test_a_sandbox_that_may_use_a_gpu_works_where_there_is_none(backend: str) -> None:
    config = msgspec.msgpack.encode(frames.PrepareConfig(fake_gpu=False, gpu_bytes=1 << 30))
    with (
        BACKENDS[backend]().start(config, cuda=True) as template,
        template.spawn(ChildLimits()) as child,
    ):
        load = frames.pack(frames.Load("m.py", ("m.py",), (0,)), [b"x = 1"])
        child.sock.settimeout(30)
        child.sock.sendall(bytes(frames.STAMP.size) + load)
        assert child.sock.recv(frames.STAMP.size) == bytes(frames.STAMP.size)
        header, body = frames.frame_lengths(child.sock.recv(frames.PREFIX.size))
        reply, _ = frames.unpack_reply(child.sock.recv(header), memoryview(child.sock.recv(body)))
        assert reply.status == "ok"


@pytest.fixture(scope="module")
def beside_a_gpu(backend: str):
    """A child of a sandbox that may use a GPU."""
    started = BACKENDS[backend](runtime=STAND_IN, warm=()).start(b"", cuda=True)
    with started as template, template.spawn(ChildLimits()) as child:
        yield child


def test_a_driver_can_name_its_threads(beside_a_gpu: Child) -> None:
    name = """
    import os, threading
    comm = f"/proc/self/task/{threading.get_native_id()}/comm"
    os.write(os.open(comm, os.O_RDWR), b"cuda-EvtHandlr")
    return open("/proc/self/status").readline().split()[1]
    """
    assert ask(beside_a_gpu, name) == "cuda-EvtHandlr"


@pytest.mark.parametrize("name", ["environ", "mem", "auxv", "root/etc/passwd"])
def test_and_shows_no_more_of_itself_than_without(beside_a_gpu: Child, name: str) -> None:
    answer = ask(beside_a_gpu, f"open('/proc/self/{name}', 'rb').read(1)")
    assert answer["error"].split(":")[0] in ("FileNotFoundError", "PermissionError")


def test_nor_anybody_else(beside_a_gpu: Child, backend: str) -> None:
    found = ask(beside_a_gpu, "import os\nreturn [n for n in os.listdir('/proc') if n.isdigit()]")
    assert found == ["1"] if backend == "bubblewrap" else "PermissionError" in found["error"]


def test_a_driver_has_descriptors_of_its_own(beside_a_gpu: Child) -> None:
    bound = "import resource\nreturn resource.getrlimit(resource.RLIMIT_NOFILE)[0]"
    assert ask(beside_a_gpu, bound) >= ChildLimits().open_files + 100


def test_memory_of_the_host_is_bounded_beside_a_gpu(beside_a_gpu: Child) -> None:
    answer = ask(beside_a_gpu, "return len(bytearray(4 << 30))")
    assert answer["error"].startswith("MemoryError")


def test_a_driver_may_reserve_addresses(beside_a_gpu: Child) -> None:
    """Far more than there is memory, none of which can be written to."""
    reserve = """
    import ctypes, mmap
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_long
    size, nothing = ctypes.c_size_t(256 << 30), 0
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return libc.mmap(None, size, nothing, flags, -1, ctypes.c_long(0)) > 0
    """
    assert ask(beside_a_gpu, reserve) is True
