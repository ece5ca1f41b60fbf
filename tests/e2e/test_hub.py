"""Test the service behind a real JupyterHub, with local users, their servers and the real proxy.

The test runs as root. It creates three users with passwords, starts JupyterHub with
configurable-http-proxy and the service, and removes everything afterwards. `make e2e` runs it.
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from autograder.model.course import load
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, WEEK, write_course
from tests.serve.conftest import FUTURE
from tests.serve.running import AUTOGRADER, free_port, until

ROOT = Path(__file__).resolve().parents[2]
PROXY = ROOT / ".venv" / "hub" / "node_modules" / ".bin" / "configurable-http-proxy"
PATHS = f"{os.environ['PATH']}:/usr/sbin"
USERADD, PYTHON = shutil.which("useradd", path=PATHS), Path("/usr/bin/python3")
pytestmark = pytest.mark.skipif(
    not os.environ.get("AUTOGRADER_E2E") or os.geteuid() != 0 or not USERADD or not PROXY.exists(),
    reason="make e2e, as root, with configurable-http-proxy",
)
DOMAIN = "hub.test"
ROLES = ("teach", "ada", "mallory")
SQUARES = SOLUTION.replace("x + x", "x**2")
CONFIG = """\
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.subdomain_host = "http://{domain}:{port}"
c.JupyterHub.load_groups = {{"staff": {{"users": [{teach!r}]}}}}
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.Authenticator.allowed_users = {users!r}
c.PAMAuthenticator.open_sessions = False
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser", "--ip=127.0.0.1"]
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.JupyterHub.load_roles = [
    {{"name": "user", "scopes": ["self", "access:services!service=autograder"]}},
    {{"name": "server", "scopes": ["users:activity!user", "access:servers!server",
                                  "access:services!service=autograder"]}},
]
c.JupyterHub.services = [
    {{
        "name": "autograder",
        "url": "http://127.0.0.1:{service}",
        "command": [{autograder!r}, "serve", "--hub", "--instructor", "group:staff",
                    "--url", "http://autograder--service.{domain}:{port}/services/autograder/",
                    "--jobs", "1", "--device", "cpu"],
        "cwd": {course!r},
        "oauth_no_confirm": True,
    }}
]
"""


class Here(httpx.HTTPTransport):
    """Resolves all domains to this machine, as a wildcard DNS record would."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        here = request.url.copy_with(host="127.0.0.1")
        sent = {"headers": request.headers, "extensions": request.extensions}
        return super().handle_request(
            httpx.Request(request.method, here, stream=request.stream, **sent)
        )


def client_of(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, follow_redirects=True, timeout=60, transport=Here())


@dataclass
class Hub:
    """A running JupyterHub with its local users."""

    url: str
    service: str  # the service's origin
    direct: str  # address of the service
    users: dict[str, str]  # by role
    passwords: dict[str, str]
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        return (self.folder / "hub.log").read_text("utf-8", "replace")[-6000:]

    def browser(self, role: str) -> httpx.Client:
        """Return a browser session that is signed in at the Hub with name and password."""
        client = client_of(self.url)
        page = client.get("/hub/login")
        xsrf = re.search(r'name="_xsrf" value="([^"]+)"', page.text)
        form = {"username": self.users[role], "password": self.passwords[role]}
        if xsrf:
            form["_xsrf"] = xsrf[1]
        answer = client.post("/hub/login?next=%2Fhub%2Fhome", data=form)
        assert answer.status_code == 200, answer.text[-500:]
        return client


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="autograder-hub-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def python(folder: Path) -> str:
    """Return a Python that students can run with our libraries; ours may be in /root."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    asked = [PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True)
    if found.stdout.strip() != version:
        pytest.skip(f"the system's Python is not {version}")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder / "python"], check=True)
    (site,) = (folder / "python").glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n", "utf-8")
    return str(folder / "python" / "bin" / "python")


@pytest.fixture(scope="module")
def users(folder: Path) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    names = {role: f"{role}{os.getpid()}" for role in ROLES}
    passwords = {role: secrets.token_hex(8) for role in ROLES}
    (folder / "home").mkdir()
    try:
        for role, name in names.items():
            home = folder / "home" / name
            options = ["--create-home", "--home-dir", str(home), "--shell", "/bin/sh"]
            subprocess.run([str(USERADD), *options, name], check=True)
            line = f"{name}:{passwords[role]}"
            subprocess.run(["chpasswd"], input=line, text=True, check=True)
        yield names, passwords
    finally:
        for name in names.values():
            subprocess.run(["userdel", name], check=False)


@pytest.fixture(scope="module")
def hub(folder: Path, python: str, users: Any) -> Iterator[Hub]:
    names, passwords = users
    course = folder / "course"
    write_course(course)
    course.chmod(0o700)
    (course / "course.yaml").write_text(FUTURE, "utf-8")
    loaded = load(course)
    release(loaded, loaded.weeks[0])
    port, own_port = free_port(), free_port()
    settings = CONFIG.format(
        domain=DOMAIN,
        port=port,
        hub=free_port(),
        api=free_port(),
        service=own_port,
        proxy=str(PROXY),
        users=set(names.values()),
        python=python,
        autograder=str(AUTOGRADER),
        teach=names["teach"],
        course=str(course),
    )
    (folder / "hub").mkdir(mode=0o700)
    (folder / "hub" / "jupyterhub_config.py").write_text(settings, "utf-8")
    own = {"OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    with (folder / "hub.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"],
            cwd=folder / "hub",
            env=os.environ | own,
            stdout=log,
            stderr=log,
        )
    urls = f"http://{DOMAIN}:{port}", f"http://autograder--service.{DOMAIN}:{port}"
    running = Hub(*urls, f"http://127.0.0.1:{own_port}", names, passwords, folder, process)
    try:
        until(lambda: answers(running), 120, every=0.5)
        yield running
    finally:
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        for child in psutil.wait_procs(started, timeout=10)[1]:
            child.kill()


def answers(hub: Hub) -> bool:
    assert hub.process.poll() is None, hub.log
    try:
        with client_of(hub.service) as client:
            return service(client, hub, "health").status_code == 200
    except httpx.TransportError:
        return False


def service(client: httpx.Client, hub: Hub, path: str = "") -> httpx.Response:
    return client.get(f"{hub.service}/services/autograder/{path}")


def form_key(page: str) -> str:
    found = re.search(r'name="key" value="(\w+)"', page)
    assert found, page
    return found[1]


@pytest.fixture(scope="module")
def ada(hub: Hub) -> Iterator[httpx.Client]:
    with closing(hub.browser("ada")) as client:
        yield client


@pytest.fixture(scope="module")
def receipt(hub: Hub, ada: httpx.Client) -> str:
    """Return the receipt of ada's submission on the page."""
    page = service(ada, hub, f"weeks/{WEEK}")
    assert page.status_code == 200, page.text
    sent = ada.post(
        f"{hub.service}/services/autograder/weeks/{WEEK}/tries",
        data={"key": form_key(page.text)},
        files={"files": ("doubling.py", SQUARES.encode())},
    )
    assert sent.status_code == 200, sent.text
    return sent.url.path.split("/")[-1]


def test_a_user_of_the_hub_hands_in_and_is_told(hub: Hub, ada: httpx.Client, receipt: str) -> None:
    page = until(lambda: graded(ada, hub, receipt), 120, every=0.5)
    assert "squares instead of doubling" in page
    assert hub.users["ada"] in page


def graded(client: httpx.Client, hub: Hub, receipt: str) -> str:
    text = service(client, hub, f"tries/{receipt}").text
    return text if "Graded" in text else ""


def test_a_stranger_is_sent_to_the_hub(hub: Hub) -> None:
    with client_of(hub.service) as client:
        answer = service(client, hub)
    assert "/hub/login" in str(answer.url)


def test_another_user_sees_nothing_of_it(hub: Hub, receipt: str) -> None:
    with closing(hub.browser("mallory")) as mallory:
        assert service(mallory, hub).status_code == 200
        assert service(mallory, hub, f"tries/{receipt}").status_code == 404
        assert service(mallory, hub, "class").status_code == 404


def test_a_page_of_another_users_server_acts_for_nobody(hub: Hub, ada: httpx.Client) -> None:
    """Send the request of a page at https://mallory.hub/user/mallory/, including the cookies."""
    page = f"{hub.url.replace('://', '://mallory.')}/user/mallory/files/page.html"
    sent = {"origin": page.partition("/user")[0], "referer": page, "sec-fetch-site": "same-site"}
    path = f"{hub.service}/services/autograder/weeks/{WEEK}"
    assert service(ada, hub, f"weeks/{WEEK}").status_code == 200
    assert ada.get(path, headers=sent).status_code == 403
    assert ada.post(f"{path}/tries", headers=sent, files={"files": b"x"}).status_code == 403


def test_the_instructor_sees_the_class(hub: Hub, receipt: str) -> None:
    with closing(hub.browser("teach")) as teach:
        page = service(teach, hub, "class")
    assert page.status_code == 200
    assert hub.users["ada"] in page.text


@pytest.fixture(scope="module")
def server(hub: Hub, ada: httpx.Client) -> psutil.Process:
    """Return ada's server, which the Hub has started under her account."""
    name = hub.users["ada"]
    ada.get(f"/hub/spawn/{name}")
    found = until(lambda: servers_of(name), 120, every=0.5)
    assert found[0].uids().real == pwd.getpwnam(name).pw_uid
    return found[0]


def servers_of(name: str) -> list[psutil.Process]:
    uid = pwd.getpwnam(name).pw_uid
    return [
        p
        for p in psutil.process_iter(["uids", "cmdline"])
        if p.info["uids"].real == uid and "jupyterhub.singleuser" in " ".join(p.info["cmdline"])
    ]


def test_submit_in_a_users_server_needs_no_token(
    hub: Hub, server: psutil.Process, python: str
) -> None:
    name = hub.users["ada"]
    known = pwd.getpwnam(name)
    week = Path(known.pw_dir) / WEEK
    course = load(hub.folder / "course")
    shutil.copytree(Workspace(course).outbound(course.weeks[0]), week)
    (week / "doubling.py").write_text(SOLUTION, "utf-8")
    for path in (week, *week.rglob("*")):
        os.chown(path, known.pw_uid, known.pw_gid)
    me = ["setpriv", f"--reuid={known.pw_uid}", f"--regid={known.pw_gid}", "--clear-groups", "--"]
    to = ["--no-check", "--to", f"{hub.direct}/services/autograder/"]
    done = subprocess.run(
        [*me, python, "-m", "autograder", "submit", *to],
        cwd=week,
        env=server.environ() | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr + hub.log
    assert "✓ double  complete" in done.stdout
