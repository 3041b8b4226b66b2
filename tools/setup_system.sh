#!/bin/sh
# Installs what the real backends need from Debian, when this may be done (root, apt-get); otherwise names the one
# command to run. Never fails: what is missing is skipped by the tests, which say so.
#   mesa-vulkan-drivers  a Vulkan device in software (lavapipe) for wgpu and dawn; Mesa 22 stops long loops silently,
#                        so Debian 12 takes it from its backports
#   pocl-opencl-icd      an OpenCL device in software
#   chromium             its SwiftShader is a second Vulkan device, which flushes subnormals: the adversary
set -eu
packages="libvulkan1 mesa-vulkan-drivers ocl-icd-libopencl1 pocl-opencl-icd chromium"
missing=""
for p in $packages; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "skipped: no apt-get here. The real backends need the equivalents of:$missing" >&2
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "skipped: the real backends need system packages. Fix: sudo tools/setup_system.sh" >&2
  exit 0
fi

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
if [ "$release" = bookworm ] && [ ! -e /etc/apt/sources.list.d/vyre-backports.sources ]; then
  # The machine's own Debian source, whatever mirror it names.
  uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n -e 's/^URIs: *\([^ ]*\/debian\)\/\{0,1\}$/\1/p' -e 's/^deb \(\[.*\] \)\{0,1\}\([^ ]*\/debian\)\/\{0,1\} .*/\2/p' | head -n 1)
  if [ -n "$uri" ]; then
    printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' \
      "$uri" /usr/share/keyrings/debian-archive-keyring.gpg > /etc/apt/sources.list.d/vyre-backports.sources
  fi
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >/dev/null 2>&1 || true
for p in $missing; do
  from=""
  case "$release/$p" in bookworm/mesa-vulkan-drivers) from="-t bookworm-backports" ;; esac
  # shellcheck disable=SC2086
  apt-get install -q -y --no-install-recommends $from "$p" >/dev/null 2>&1 ||
    echo "skipped: $p could not be installed. Fix: apt-get install $p" >&2
done
