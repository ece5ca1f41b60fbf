# These commands set everything up and do the work: `make learn`, `make demo` and `make test`.
# They need Python 3.11 or newer and, the first time, a network.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export OMP_NUM_THREADS ?= 1
export JUPYTER_PLATFORM_DIRS ?= 1

.PHONY: learn demo test thorough thorough-again quick verify lint site bench gpu fuzz wheel matrix e2e load simulate container setup sandbox postgresql pictures clean

# Study the course alone, in the browser. Your files are in learn/.
learn: setup
	$(BIN)/autograder learn

demo: setup
	$(BIN)/autograder demo

test: setup
	$(BIN)/autograder build --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m pytest -q -n $(or $(JOBS),4) --dist loadscope --no-loadscope-reorder

# What `make test` leaves out: the other variants of the attacks, and expensive tests. Attacks often
# wait for a limit, so there are more processes than cores. `make thorough-again` runs failed tests
# again alone, because other processes can exhaust limits of time; pytest's cache remembers them.
THOROUGH := AUTOGRADER_E2E=1 $(BIN)/python -m pytest -q -o addopts=--import-mode=importlib \
  -m thorough --ignore tests/e2e_browser
thorough: setup
	$(THOROUGH) -n $(or $(JOBS),4) --dist loadscope --no-loadscope-reorder

thorough-again: setup
	$(THOROUGH) --last-failed --last-failed-no-failures none

# The tests that need no sandbox, nbgrader or browser, in about a minute.
quick: setup
	$(BIN)/autograder build --check
	$(BIN)/python -m pytest -q -x -n $(or $(JOBS),2) --dist loadscope --no-loadscope-reorder tests/unit tests/feedback tests/classreport tests/lms

# Build the documentation in build/site, without broken links or orphaned pages, and the students' site
# with the released weeks in build/students.
site: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/autograder site
	@echo "build/site/index.html: the documentation; build/students/index.html: the released weeks"

# Capture the pictures in README.md from the pages of a sample class, a lesson and `autograder learn`.
pictures: setup
	@command -v chromium >/dev/null || { echo "chromium is missing: sudo apt-get install chromium"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	$(BIN)/python -m docs.pictures

verify: setup
	$(BIN)/autograder verify

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# In a real browser: a student's week in JupyterLab, the instructor's in Formgrader, and twelve students
# on the service's page. Also the gradebook in PostgreSQL and the service on a JupyterHub. Chromium and
# PostgreSQL come from the system's packages.
e2e: setup postgresql
	@command -v chromium >/dev/null || { echo "chromium is missing: sudo apt-get install chromium"; exit 2; }
	@command -v npm >/dev/null || { echo "npm is missing: sudo apt-get install npm"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser,postgres,hub]'
	npm install --silent --no-fund --no-audit --prefix .venv/axe axe-core@4.14.1
	npm install --silent --no-fund --no-audit --prefix .venv/hub configurable-http-proxy@5.3.0
	AUTOGRADER_E2E=1 $(BIN)/python -m pytest -q -s -rs tests/e2e_browser tests/e2e/test_postgres.py tests/e2e/test_hub.py tests/e2e/test_two_services.py tests/cluster/test_serve.py

# The load on the service in the hour before a deadline, with three submissions by each of 400 students,
# and a hundred kills; written to benchmarks/SERVICE.md. LOAD="--students 60 --minutes 5" is shorter.
load: setup
	$(BIN)/python -m benchmarks.service load $(LOAD)
	$(BIN)/python -m benchmarks.service kills --kills $(or $(KILLS),100)

postgresql:
	@ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; \
	else echo "PostgreSQL is missing, its test is skipped: sudo apt-get install postgresql"; fi

# A course of 60 simulated students over eight weeks, and checks of the records at its end.
simulate: setup
	$(BIN)/python -m tests.simulation.run --students $(or $(STUDENTS),60) --weeks $(or $(WEEKS),8)

# Throughput compared with other graders (Otter-Grader in a separate environment), the lower bound,
# start-up, growth, a cluster and a GPU; written to benchmarks/RESULTS.md. Takes about 25 minutes on
# two idle cores. BENCH="--n 12 --rounds 3" and GROWTH=--full (10,000 submissions) take hours.
bench: setup .venv-bench/ready
	$(BIN)/python -m benchmarks.throughput $(BENCH)
	$(BIN)/python -m benchmarks.floor
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.growth $(GROWTH)
	$(BIN)/python -m benchmarks.outside $(OUTSIDE)
	$(BIN)/python -m benchmarks.whole $(or $(WHOLE),--sizes 100,1000)
	$(BIN)/python -m benchmarks.cluster $(CLUSTER)
	$(BIN)/python -m benchmarks.gpu

# On a machine with a GPU, compare it with the simulated GPU; written to benchmarks/GPU.md. On other
# machines, print the steps and exit with 2.
gpu: setup
	$(BIN)/python -m benchmarks.prove_gpu $(GPU)

.venv-bench/ready: .venv/ready
	.venv/bin/python -m venv .venv-bench
	.venv/bin/python -c "import pathlib, sysconfig; p = sysconfig.get_path('purelib'); \
	  next(pathlib.Path('.venv-bench/lib').glob('python*/site-packages')).joinpath('kit.pth').write_text(p)"
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt otter-grader==7.0.0
	@touch $@

# Install the students' wheel in fresh environments of Python 3.11 to 3.14, as far as installed.
# TORCH="none 2.4.1 newest" selects CPU builds of torch; TORCH=system uses that of the interpreter.
matrix: setup
	$(BIN)/python tests/matrix/run.py --torch $(or $(TORCH),none)

# Build two wheels: dist/gradewright_student-*.whl for students, and dist/gradewright-*.whl, the kit without
# a course, for instructors. The second contains the first. The folder `build` may contain old files.
WHEEL := $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist .
wheel: setup
	rm -rf build dist
	GRADEWRIGHT_STUDENT=1 $(WHEEL)
	rm -rf build
	$(WHEEL)
	rm -rf build
	@ls dist/*.whl

setup: sandbox .venv/ready

.venv/ready: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "Installing libraries into .venv. This takes about two minutes, once."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip uninstall --quiet --yes autograder 2>/dev/null || true  # the former name
	@$(PIP) -e '.[instructor,serve,push,cluster,docs,dev]'
	@$(PIP) -e '.[keras,text]' || \
	  echo "The extras keras and text could not be installed: their exercises will be not_run."
	@$(PIP) -e '.[triton]' || \
	  echo "The extra triton could not be installed (it is there for Linux): week 9 will be not_run."
	@touch $@

# The sandbox of hidden grading is bubblewrap; without the right to install it, say how.
sandbox:
	@command -v bwrap >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=; elif sudo -n true 2>/dev/null; then as="sudo -n"; else as=no; fi; \
	if [ "$$as" != no ] && command -v apt-get >/dev/null; then \
	  $$as apt-get update -qq && $$as apt-get install -y -qq bubblewrap libseccomp2 >/dev/null; \
	elif [ "$$as" != no ] && command -v dnf >/dev/null; then $$as dnf install -y -q bubblewrap libseccomp; \
	elif [ "$$as" != no ] && command -v pacman >/dev/null; then $$as pacman -S --noconfirm bubblewrap libseccomp; \
	else echo "bubblewrap is missing: install it with   sudo apt-get install bubblewrap libseccomp2"; fi

# Grading in a container that grants root and nothing else, as Gradescope's: an image of debootstrap,
# with the capabilities and system calls taken away that Docker's defaults take. Needs root.
container: setup
	AUTOGRADER_CONTAINER=1 $(BIN)/python -m pytest -q -rs tests/container

# A million inputs to each door that a stranger's bytes enter. Coverage leads them where atheris
# has a wheel for this Python; otherwise hypothesis makes them.
fuzz: setup
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt atheris
	$(BIN)/python -m tests.fuzz.run --runs $(or $(RUNS),1000000)

clean:
	rm -rf .venv .venv-bench demo build dist *.egg-info
