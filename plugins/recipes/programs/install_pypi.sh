# Installs the fetched packages into the virtual environment, and links the program of $1. All other arguments say
# where the tools that build source distributions come from.
set -eu
name=$1
shift
python=/app/venv/bin/python
"$python" /keelson/build_sdists.py "$@"
"$python" -m pip install --no-input --disable-pip-version-check --no-cache-dir --no-index \
  --find-links=/fetched/wheels --only-binary=:all: -r /keelson/requirements.txt
"$python" /keelson/link_entry.py "$name"
