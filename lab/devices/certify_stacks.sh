#!/bin/sh
# Certifies every backend of this machine, the WebGPU ones on each software driver that is installed, and leaves
# certificates and pages in the folder `certificates`. Further arguments go to `vyre certify`.
set -u
cd "$(dirname "$0")/../.."
mkdir -p certificates
one() { # label, backend, Vulkan driver file or nothing
  label=$1 backend=$2 driver=$3
  shift 3
  if [ -n "$driver" ]; then export VK_ICD_FILENAMES="$driver" VK_DRIVER_FILES="$driver"; fi
  .venv/bin/vyre certify "$backend" --state "certificates/$label.state" --certificate "certificates/$label.json" "$@" \
    > "certificates/$label.txt" 2>&1
  echo "$label: exit $? $(grep -o 'sha256 .*' "certificates/$label.txt" | head -1) $(grep '^integer' "certificates/$label.txt")"
  .venv/bin/vyre report "certificates/$label.json"
}
one cpu cpu "" "$@"
one opencl opencl "" "$@"
for driver in /usr/share/vulkan/icd.d/lvp_icd*.json /usr/lib/chromium/vk_swiftshader_icd.json; do
  [ -f "$driver" ] || continue
  name=$(basename "$driver" .json)
  one "wgpu-$name" wgpu "$driver" "$@"
  one "dawn-$name" dawn "$driver" "$@"
done
