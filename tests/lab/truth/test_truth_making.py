"""The truth as committed, and the tool that makes it: the parts that need no GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lab.truth import make
from vyre.conform.oracle.digest import CHUNK, CHUNKS, consecutive, digest
from vyre.conform.oracle.floats import functions
from vyre.conform.oracle.floats.layout import F32
from vyre.conform.oracle.truth import oracle
from vyre.conform.oracle.truth.functions import ELEMENTARY, FUNCTIONS, INTEGERS
from vyre.conform.oracle.truth.store import FOLDER, index, load, save

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def tool() -> Any:
    return make


def committed() -> list[str]:
    return sorted(index())


def test_files_and_index_belong_together() -> None:
    assert {p.stem for p in FOLDER.glob("*.bin")} == set(committed())
    assert set(committed()) <= set(FUNCTIONS)
    assert "exp" in committed()


@pytest.mark.parametrize("name", committed())
def test_the_committed_truth_is_that_of_the_oracle(name: str) -> None:
    """One chunk of each function, another one for each."""
    truth = load(name)
    assert len(truth.digests) == CHUNKS
    chunk = 0x3F0 + 2 * list(FUNCTIONS).index(name)
    inputs = consecutive(chunk * CHUNK, CHUNK)
    assert truth.digests[chunk] == digest(inputs, oracle.results(name, inputs))


@pytest.mark.parametrize("name", ["exp", "f32_to_u32_truncate"])
def test_the_tool_and_the_oracle_make_the_same(tool: Any, name: str) -> None:
    inputs = consecutive(0xC05 * CHUNK, CHUNK)
    made, _, checked = tool.cpu_chunk(name, 0xC05)
    assert made == digest(inputs, oracle.results(name, inputs))
    assert checked == (tool.PER_CHUNK if name == "exp" else 0)


def test_what_the_filter_leaves_out_is_added(tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel sums the decided cases only; Arb's results complete the digest."""
    monkeypatch.setattr(functions, "MARGIN", 2.0**-36)
    inputs = consecutive(0x3F8 * CHUNK, CHUNK)
    results, open_ = functions.filtered("FLog", F32, inputs)
    assert 100 < open_.sum() < 5000
    digests = np.zeros(CHUNKS, np.uint64)
    digests[0x3F8] = digest(inputs[~open_], results[~open_])
    whole = tool._with_decided("log", digests, inputs[open_])
    assert int(whole[0x3F8]) == digest(inputs, oracle.results("log", inputs))


def test_a_wrong_sample_ends_the_making(tool: Any) -> None:
    inputs = consecutive(0x3F80_0000, 64)
    values = np.exp(inputs.view(np.float32).astype(np.float64))
    bits = oracle.results("exp", inputs)
    assert tool.worst_error("FExp", inputs, values) < 2
    with pytest.raises(SystemExit, match="the device has"):
        tool._checked("exp", inputs, bits ^ np.uint32(1), values)


def test_doubles_that_are_too_far_off_are_measured(tool: Any) -> None:
    inputs = consecutive(0x3F80_0000, 64)
    values = np.exp(inputs.view(np.float32).astype(np.float64)) * (1 + 2.0**-45)
    assert 100 < tool.worst_error("FExp", inputs, values) < 140


def test_samples_are_in_every_chunk(tool: Any) -> None:
    inputs = tool.sample_inputs("exp")
    assert (inputs.reshape(CHUNKS, -1) // CHUNK == np.arange(CHUNKS)[:, None]).all()
    assert (inputs == tool.sample_inputs("exp")).all()
    assert (inputs != tool.sample_inputs("log")).any()


def test_two_truths_are_compared(tool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    digests = np.arange(CHUNKS, dtype=np.uint64)
    for folder in (one, two):
        save(folder, "exp", digests, {"by": "a test"})
    with pytest.raises(SystemExit) as equal:
        tool.compare(one, two)
    assert equal.value.code == 0
    digests[77] += np.uint64(1)
    save(two, "exp", digests, {"by": "a test"})
    with pytest.raises(SystemExit) as different:
        tool.compare(one, two)
    assert different.value.code == 1
    assert "1 chunks differ: [77]" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["sin", "exp10", "f32_to_bf16", "f32_to_i32_nearest"])
def test_the_kernels_compile(tool: Any, name: str) -> None:
    """NVRTC needs no GPU. The filter multiplies in one rounding: nothing of ours is fused."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from vyre.backends.cuda.backend import compile_source

    class Source:
        text = tool.make_cuda.source(name)

    made: Any = Source()
    ptx = compile_source(made, "compute_90").decode()
    assert ".entry digests" in ptx
    assert ".entry samples" in ptx
    assert ("mul.rn.f64" in ptx) == (name in ELEMENTARY)


def test_every_function_has_a_kernel(tool: Any) -> None:
    for name in set(FUNCTIONS) - set(INTEGERS):
        assert "digests" in tool.make_cuda.source(name)
