#!/bin/bash
# What a state of the code is shown on a machine with an NVIDIA GPU, in one visit.
#
#     PYTHON=python bash lab/devices/gpu_visit.sh FOLDER PART:SECONDS...
#
# Parts run in the order given, each ended after its seconds, and leave FOLDER/PART.txt; what they print and every
# certificate is in FOLDER/visit.tar.gz at the end, which is written anew after each part.
#
#     certify   the five stacks at the same time: certificates, and a line for each
#     graphs    random graphs, evaluator against plan: 10,000 on cpu, then 1,000 on each other stack
#     tests     every test of a name with "cuda", in the folders where backends are run
#     hashes    the transformer's logits on the five stacks
#     figures   the tables of docs/performance.md that need the device
#     mutants   50 whole certifications of wrong backends
set -u
cd "$(dirname "$0")/../.."
PYTHON=${PYTHON:-.venv/bin/python}
STACKS=${STACKS:-cuda opencl wgpu dawn cpu}
CORES=$(nproc)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
export PYTHONPATH=src:.${PYTHONPATH:+:$PYTHONPATH} VYRE_CACHE=${VYRE_CACHE:-$folder/cache}

certify() {
  for stack in $STACKS; do
    share=$((CORES / 5 < 1 ? 1 : CORES / 5))
    "$PYTHON" -m vyre certify "$stack" --processes "$share" --timeout 120 --state "$folder/certify-$stack.state" \
      --certificate "$folder/$stack.json" > "$folder/certify-$stack.txt" 2>&1 &
  done
  wait
  for stack in $STACKS; do
    echo "== $stack"
    grep -E '^(integer|float|approximate) |✗|sha256|code ' "$folder/certify-$stack.txt" | head -n 40
  done
}

graphs() {
  "$PYTHON" -m lab.bulk.graphs --backend cpu --count "${GRAPHS:-10000}" --jobs "$CORES"
  for stack in $STACKS; do
    [ "$stack" = cpu ] || "$PYTHON" -m lab.bulk.graphs --backend "$stack" --count 1000 --jobs "$((CORES / 2 + 1))"
  done
}

tests() {
  "$PYTHON" -m pytest -q -n "$CORES" --dist loadfile -p no:cacheprovider -p no:benchmark -k cuda \
    tests/backends tests/engines tests/library tests/kernels tests/tensor tests/planning tests/nn
}

hashes() {
  for stack in $STACKS; do
    for size in tiny small; do
      echo "== $stack $size"
      "$PYTHON" examples/transformer.py --backend "$stack" --size "$size"
    done
  done
}

figures() {
  while read -r table; do
    echo "== $table"
    # shellcheck disable=SC2086  # the name and its arguments
    "$PYTHON" benchmarks/$table < /dev/null
  done << 'TABLES'
calls.py cuda
matrices.py
tensors_cuda.py
decode_cuda.py
collection.py --backend cuda
hashing.py --backend cuda
matching.py --backend cuda
laws.py --backend cuda
TABLES
}

mutants() {
  "$PYTHON" -m lab.mutants.shaped.exam --results "$folder/mutants.state" --jobs "$CORES" --certify 50 --write
  cp docs/mutants.md "$folder/mutants.md.txt"
}

export -f certify graphs tests hashes figures mutants
export folder PYTHON STACKS CORES
for asked in "$@"; do
  part=${asked%:*} seconds=${asked#*:}
  began=$SECONDS
  timeout -k 5 "$seconds" bash -c "$part" > "$folder/$part.txt" 2>&1
  echo "$part: exit $?, $((SECONDS - began)) s of $seconds"
  tail -n 12 "$folder/$part.txt"
  (cd "$folder" && tar czf visit.tar.gz --exclude='*.state' -- *.txt $(ls -- *.json 2> /dev/null))
done
