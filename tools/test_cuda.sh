#!/bin/sh
# Everything that means an NVIDIA GPU, on a machine that has one: sh tools/test_cuda.sh [python]
# One line for each file, and one file that fails keeps no other from running.
python=${1:-python}
failed=0
for part in \
    tests/backends/cuda \
    tests/backends/test_device_buffers.py \
    tests/backends/test_device_buffer_protocols.py \
    tests/backends/test_capture.py \
    tests/backends/test_stored_integers.py \
    tests/backends/test_memory_while_running.py \
    tests/backends/test_backend_failures.py \
    tests/backends/test_grids.py \
    tests/backends/test_step_limit.py \
    tests/engines \
    tests/frontend/test_outputs.py
do
    echo "== $part"
    shown=$(timeout 240 "$python" -m pytest -q -n 4 -k cuda "$part" 2>&1) || failed=1
    echo "$shown" | tail -n 6
done
exit $failed
