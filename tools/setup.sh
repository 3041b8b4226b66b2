#!/bin/sh
# Makes .venv with vyre and the extras named in $1 (with `all` also the development tools); does nothing when that is
# already done.
# On Debian as root it installs python3-venv when it is missing; otherwise it says which command would.
set -eu
cd "$(dirname "$0")/.."
extras=${1:-}
python=${PYTHON:-python3}
stamp=.venv/.vyre-setup-$(echo "$extras" | tr , -)
want=$(cat pyproject.toml tools/setup.sh | cksum; "$python" --version; echo "$extras")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ]; then exit 0; fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "vyre needs Python 3.11 or later. Fix: install it, or run make PYTHON=/path/to/python3.11" >&2
  exit 1
fi
if [ ! -x .venv/bin/python ]; then
  if ! "$python" -m venv .venv >/dev/null 2>&1; then
    rm -rf .venv
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      apt-get update -q && apt-get install -q -y --no-install-recommends python3-venv
      "$python" -m venv .venv
    else
      echo "Python has no venv module. Fix: sudo apt-get install python3-venv, then run make again." >&2
      exit 1
    fi
  fi
fi
tools=""
[ "$extras" != all ] || tools="--group dev"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
# shellcheck disable=SC2086
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}" $tools
printf '%s' "$want" > "$stamp"
