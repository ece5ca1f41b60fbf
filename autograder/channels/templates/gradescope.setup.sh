#!/usr/bin/env bash
# Builds the image: Python 3.11 or newer, libraries in the versions of the course, and the link by
# which submissions get a root of their own (sandbox "chroot").
set -euo pipefail

source=/autograder/source
home=/usr/local/grading

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends python3 python3-venv libseccomp2 ca-certificates

python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    # an older base image: a Python of its own, below /usr like all that submissions may see
    python3 -m venv /tmp/uv && /tmp/uv/bin/pip install -q uv
    UV_PYTHON_INSTALL_DIR=/usr/local/python /tmp/uv/bin/uv python install 3.12
    python=$(UV_PYTHON_INSTALL_DIR=/usr/local/python /tmp/uv/bin/uv python find 3.12)
    rm -rf /tmp/uv
fi

"$python" -m venv "$home"
# torch for the CPU alone is a tenth of the size; another index may be given
"$home/bin/pip" install -q --no-cache-dir --disable-pip-version-check \
    --extra-index-url "${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}" -r "$source/requirements.txt"
chmod -R o+rX "$home"

[ -e /usr/usr ] || ln -s . /usr/usr
chmod 700 "$source"
