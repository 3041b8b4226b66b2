#!/bin/sh
# Makes .venv with vyre and the extras named in $1 (with `all` also the development tools); does nothing when that is
# already done. Installs the versions in $CONSTRAINTS (constraints.txt unless it says otherwise; empty: the newest that
# pyproject.toml allows).
# On Debian as root it installs python3-venv when it is missing; otherwise it says which command would.
set -eu
cd "$(dirname "$0")/.."
extras=${1:-}
python=${PYTHON:-python3}
constraints=${CONSTRAINTS-constraints.txt}
stamp=.venv/.vyre-setup-$(echo "$extras" | tr , -)

if [ -n "$constraints" ] && [ ! -f "$constraints" ]; then
  echo "There is no file $constraints. Fix: make CONSTRAINTS=FILE, or CONSTRAINTS= for the newest versions." >&2
  exit 1
fi
# shellcheck disable=SC2086
want=$(cat pyproject.toml tools/setup.sh $constraints | cksum; "$python" --version; echo "$extras $constraints")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ]; then exit 0; fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "vyre needs Python 3.11 or later. Fix: install it, or run make PYTHON=/path/to/python3.11" >&2
  exit 1
fi
venv_python() {
  for found in .venv/bin/python .venv/Scripts/python.exe; do
    if [ -x "$found" ]; then echo "$found"; fi
  done
}
if [ -z "$(venv_python)" ]; then
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
pip="$(venv_python) -m pip install --quiet --disable-pip-version-check"
$pip --upgrade "pip>=25.1"
# shellcheck disable=SC2086
if ! $pip ${constraints:+--constraint "$constraints"} --editable ".${extras:+[$extras]}" $tools; then
  [ -n "$constraints" ] || exit 1
  echo "Not every version in $constraints can be installed on this machine; taking the newest that pyproject.toml" \
    "allows, as make CONSTRAINTS= does." >&2
  $pip --editable ".${extras:+[$extras]}" $tools
fi
printf '%s' "$want" > "$stamp"
