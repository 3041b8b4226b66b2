"""The node tests of the onnx package, run through `vyre.onnx`: passed, or refused with a reason.

python -m tests.onnx.node_tests                  all of them, by the evaluator
python -m tests.onnx.node_tests --backend cpu    on a backend too, whose bytes must be the evaluator's
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from vyre import onnx as vyre_onnx
from vyre.errors import VyreError

PASSED, REFUSED, FAILED, OTHER = "passed", "refused", "failed", "other op"


_LAST_PLACE = {"float16": 2**-9, "bfloat16": 2**-6}
"""Two units in the last place: the tests round halves after each operation of NumPy, we where a node ends."""


@dataclass(frozen=True)
class Result:
    name: str
    op: str
    status: str
    why: str = ""


def collected() -> list[Any]:
    """The cases of the package, which it makes when it is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return list(collect_testcases(None))


def run(case: Any, backend: str | None = None) -> Result:
    op = case.model.graph.node[0].op_type
    if not {node.op_type for node in case.model.graph.node} <= set(vyre_onnx.OPS):
        return Result(case.name, op, OTHER)
    try:
        return Result(case.name, op, *_judged(case, backend))
    except VyreError as error:
        return Result(case.name, op, REFUSED, error.message)


def _judged(case: Any, backend: str | None) -> tuple[str, str]:
    inputs, outputs = ([_array(v) for v in values] for values in case.data_sets[0])
    names = [entry.name for entry in case.model.graph.input]
    model, fixed = _loaded(case.model, names, inputs)
    given = {n: v for n, v in zip(names, inputs, strict=False) if n not in fixed and n in model.inputs}
    found = model.evaluate(given)
    if backend is not None:
        ran = model(given, backend=backend)
        for name, value in found.items():
            if np.asarray(ran[name]).tobytes() != np.asarray(value).tobytes():
                return FAILED, f"{name} on {backend} differs from the evaluator"
    for expected, value in zip(outputs, found.values(), strict=False):
        why = _difference(np.asarray(expected), value, case.rtol, case.atol)
        if why:
            return FAILED, why
    return PASSED, ""


def _array(value: Any) -> Any:
    from onnx import numpy_helper

    return numpy_helper.to_array(value) if hasattr(value, "raw_data") else value


def _loaded(model: Any, names: list[str], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
    """The model, with as few inputs fixed as it needs: the tests pass shapes and axes as inputs."""
    pairs = dict(zip(names, inputs, strict=False))
    rest = {name: pairs[name] for name in names[1:] if name in pairs}
    for fixed in ({}, rest, pairs):
        try:
            return vyre_onnx.load(model, fixed=fixed), fixed
        except VyreError as error:
            if "computed from data" not in error.message or fixed is pairs:
                raise
    raise AssertionError


def _difference(expected: Any, found: Any, rtol: float, atol: float) -> str:
    if expected.dtype.name == "bfloat16":
        found = found.view(expected.dtype)
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"{expected.dtype}{expected.shape} expected, {found.dtype}{found.shape} found"
    allowed = max(rtol, _LAST_PLACE.get(expected.dtype.name, 0.0))
    same = np.allclose(
        np.asarray(found, float), np.asarray(expected, float), rtol=allowed, atol=atol, equal_nan=True
    )
    return "" if same else "values beyond the tolerance of the test"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend")
    options = parser.parse_args()
    results = [run(case, options.backend) for case in collected()]
    print(dict(Counter(r.status for r in results)))
    for status in (FAILED, REFUSED):
        for result in results:
            if result.status == status:
                print(f"{status}  {result.name}: {result.why}")


if __name__ == "__main__":
    main()
