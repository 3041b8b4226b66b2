"""An exported kernel runs from its manifest alone: the drivers below know nothing of vyre."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from lab.exactness import exactness_programs
from vyre.cli import main
from vyre.lower.languages import LANGUAGES, lower
from vyre.lower.manifest import manifest
from vyre.reference import run

if TYPE_CHECKING:
    from vyre.conform.generate.programs import GeneratedProgram

DOCS = Path(__file__).parent.parent.parent / "docs" / "kernel-abi.md"
CASES = ["barriers", "lengths", "halves", "atomics", "order of effects", "bools", "ids", "out of bounds U64"]


def run_wgsl(folder: Path, data: dict[str, bytes], workgroups: tuple[int, int, int]) -> dict[str, bytes]:
    """WebGPU, from the manifest."""
    import wgpu

    m: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    gpu: Any = wgpu
    adapter = gpu.gpu.request_adapter_sync()
    device = adapter.request_device_sync(
        required_limits={"max-storage-buffers-per-shader-stage": max(8, m["limits"]["storage_buffers"])}
    )
    shader = device.create_shader_module(code=(folder / m["source"]).read_text())
    usage = gpu.BufferUsage.STORAGE | gpu.BufferUsage.COPY_SRC | gpu.BufferUsage.COPY_DST
    entries: list[Any] = []
    bindings: list[Any] = []
    buffers: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for b in m["buffers"]:
        content = data[b["name"]]
        lengths[b["name"]] = len(content) // b["stride"]
        assert b["count"] in (None, lengths[b["name"]])
        size = max(b["min_bytes"], -(-len(content) // b["size_multiple"]) * b["size_multiple"])
        buffer = device.create_buffer_with_data(data=content.ljust(size, b"\0"), usage=usage)
        kind = "storage" if b["access"] == "ReadWrite" else "read-only-storage"
        entries.append(
            {"binding": b["position"], "visibility": gpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
        )
        bindings.append({"binding": b["position"], "resource": {"buffer": buffer}})
        buffers[b["name"]] = buffer
    words = np.zeros(m["hidden"]["bytes"] // 4, np.uint32)
    for k, word in enumerate(m["hidden"]["words"]):
        words[k] = lengths[word["buffer"]] if "buffer" in word else 0
    hidden = device.create_buffer_with_data(data=words.tobytes(), usage=gpu.BufferUsage.UNIFORM)
    at = m["hidden"]["binding"]
    entries.append({"binding": at, "visibility": gpu.ShaderStage.COMPUTE, "buffer": {"type": "uniform"}})
    bindings.append({"binding": at, "resource": {"buffer": hidden}})
    layout = device.create_bind_group_layout(entries=entries)
    pipeline = device.create_compute_pipeline(
        layout=device.create_pipeline_layout(bind_group_layouts=[layout]),
        compute={"module": shader, "entry_point": m["entry"]},
    )
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(m["hidden"]["group"], device.create_bind_group(layout=layout, entries=bindings))
    work.dispatch_workgroups(*workgroups)
    work.end()
    device.queue.submit([encoder.finish()])
    return {
        b["name"]: bytes(device.queue.read_buffer(buffers[b["name"]]))[: len(data[b["name"]])]
        for b in m["buffers"]
        if b["access"] == "ReadWrite"
    }


def run_opencl(folder: Path, data: dict[str, bytes], workgroups: tuple[int, int, int]) -> dict[str, bytes]:
    """OpenCL, from the manifest."""
    import warnings

    import pyopencl

    cl: Any = pyopencl
    m: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = cl.Program(context, (folder / m["source"]).read_text()).build(["-cl-std=CL1.2"])
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    arguments: list[Any] = []
    for b in sorted(m["buffers"], key=lambda b: b["position"]):
        content = data[b["name"]]
        arguments.append(cl.Buffer(context, flags, hostbuf=bytearray(content.ljust(b["min_bytes"], b"\0"))))
    assert len(arguments) == m["hidden"]["first_argument"]
    strides = {b["name"]: b["stride"] for b in m["buffers"]}
    for word in m["hidden"]["words"]:
        name = word.get("buffer")
        arguments.append(np.uint32(len(data[name]) // strides[name] if name else 0))
    size = m["workgroup_size"]
    kernel = cl.Kernel(program, m["entry"])
    kernel(queue, [n * s for n, s in zip(workgroups, size, strict=True)], size, *arguments)
    results: dict[str, bytes] = {}
    for b in m["buffers"]:
        if b["access"] == "ReadWrite":
            out = bytearray(max(b["min_bytes"], len(data[b["name"]])))
            cl.enqueue_copy(queue, out, arguments[b["position"]])
            results[b["name"]] = bytes(out)[: len(data[b["name"]])]
    return results


def export(case: GeneratedProgram, language: str, folder: Path) -> dict[str, bytes]:
    """Writes the kernel, and gives the contents of every buffer."""
    file = folder / "program.vyre"
    file.write_text(case.program.to_text())
    arguments = ["export", str(file), "--to", language, "--output-dir", str(folder)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return {
        b.name: case.inputs.get(b.name, bytes(b.count * b.element.stride))
        for b in case.program.buffers
        if not b.access.shared
    }


@pytest.mark.parametrize("name", CASES)
def test_wgsl_runs_from_its_manifest(name: str, tmp_path: Path) -> None:
    pytest.importorskip("wgpu", reason="the package wgpu is missing")
    case = exactness_programs()[name]
    data = export(case, "wgsl", tmp_path)
    try:
        results = run_wgsl(tmp_path, data, case.workgroups)
    except RuntimeError as error:
        if "adapter" in str(error).lower():
            pytest.skip(f"no WebGPU adapter here: {error}")
        raise
    assert results == run(case.program, case.inputs, case.workgroups).buffers


@pytest.mark.parametrize("name", CASES)
def test_opencl_runs_from_its_manifest(name: str, tmp_path: Path) -> None:
    cl = pytest.importorskip("pyopencl", reason="the package pyopencl is missing")
    try:
        cl.get_platforms()
    except cl.Error as error:
        pytest.skip(f"no OpenCL platform here: {error}")
    case = exactness_programs()[name]
    data = export(case, "opencl", tmp_path)
    assert (
        run_opencl(tmp_path, data, case.workgroups) == run(case.program, case.inputs, case.workgroups).buffers
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_field_of_a_manifest_is_documented(language: str) -> None:
    page = DOCS.read_text()
    program = exactness_programs()["lengths"].program
    record = manifest(program, lower(program, language), file="k", digests={"byte_digest": ""})
    fields = {*record, *record["buffers"][0], *record["hidden"], *record["limits"]}
    fields |= {*record["hidden"]["words"][-1], *record.get("scratch", {}), *record["program"]}
    assert {field for field in fields if f"`{field}`" not in page and f".{field}`" not in page} <= {"words"}
    for word in record["hidden"]["words"]:
        assert f"`{word['name']}`" in page or word["name"].startswith("len_")


def test_a_manifest_is_plain_data_and_always_the_same() -> None:
    program = exactness_programs()["barriers"].program
    records = [json.dumps(manifest(program, lower(program, "wgsl"), file="k", digests={})) for _ in range(2)]
    assert records[0] == records[1]


def test_the_opencl_driver_can_fail(tmp_path: Path) -> None:
    pytest.importorskip("pyopencl", reason="the package pyopencl is missing")
    case = exactness_programs()["lengths"]
    data = export(case, "opencl", tmp_path)
    record = json.loads((tmp_path / "manifest.json").read_text())
    words = record["hidden"]["words"]
    words[3], words[4] = words[4], words[3]
    (tmp_path / "manifest.json").write_text(json.dumps(record))
    assert (
        run_opencl(tmp_path, data, case.workgroups) != run(case.program, case.inputs, case.workgroups).buffers
    )
