# An image for grading, cluster workers and `serve`: the kit and its libraries, torch for the CPU.
# No course is in it: solutions and hidden tests are mounted at /course (docs/containers.md).
# Pin the base by its digest in production: --build-arg BASE=docker.io/library/python@sha256:...
ARG BASE=docker.io/library/python:3.11.13-slim-bookworm

# hadolint ignore=DL3006
FROM ${BASE} AS libraries
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
COPY pyproject.toml constraints.txt container/dependencies.py /tmp/kit/
RUN python3 -m venv /usr/local/grading \
    && /usr/local/grading/bin/pip install -q --no-cache-dir "pip==26.3" \
    && python3 /tmp/kit/dependencies.py /tmp/kit/pyproject.toml \
        instructor serve push cluster postgres > /tmp/kit/requirements.txt \
    && /usr/local/grading/bin/pip install -q --no-cache-dir --disable-pip-version-check \
        --extra-index-url "$TORCH_INDEX" -c /tmp/kit/constraints.txt -r /tmp/kit/requirements.txt \
        jupyterlab \
    && rm -rf /usr/local/grading/lib/python3.*/site-packages/torch/{test,include} \
    && echo /opt/kit > "$(/usr/local/grading/bin/python -c 'import site; print(site.getsitepackages()[0])')/kit.pth" \
    && rm -rf /tmp/kit

# hadolint ignore=DL3006
FROM ${BASE}
# versions of system packages are those of the base's suite, with its security updates
# hadolint ignore=DL3008
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends \
        libseccomp2 bubblewrap git ca-certificates tini \
    && rm -rf /var/lib/apt/lists/* \
    && ln -s . /usr/usr \
    && useradd --uid 1000 --create-home grader \
    && install -d -o grader -g grader /course
COPY --from=libraries /usr/local/grading /usr/local/grading
COPY autograder /opt/kit/autograder
COPY container/autograder /usr/local/bin/autograder
ENV PATH=/usr/local/grading/bin:/usr/local/bin:/usr/bin:/bin \
    OMP_NUM_THREADS=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    JUPYTER_PLATFORM_DIRS=1
USER 1000
WORKDIR /course
EXPOSE 8000
ENTRYPOINT ["tini", "--", "autograder"]
CMD ["doctor"]
