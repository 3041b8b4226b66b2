"""Functions of tensors that are called as torch's are: the answer names the call to write."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportCallIssue=false, reportUnknownArgumentType=false
# The mistakes are on purpose.

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("function", "fix"),
    [
        (lambda x: x.sum(dim=1), "write dim as axis=: sum(axis"),
        (lambda x: x.mean(axis=0, keepdim=True), "write keepdim as keepdims=: mean(axis"),
        (lambda x: nn.softmax(x, dim=-1), "softmax(x, axis)"),
        (lambda x: vt.pad(x, ((1, 1), (0, 0)), mode="edge"), "it is called as pad(x, widths"),
        (lambda x: vt.where(x > 0, x), "where(condition, a, b)"),
    ],
)
def test_a_call_that_does_not_fit_is_answered_with_one_that_does(
    function: Any, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VYRE_TRACEBACK", raising=False)
    with pytest.raises(VyreError) as caught:
        vt.function(function)(X)
    assert fix in str(caught.value)
    assert not [f for f in traceback.extract_tb(caught.value.__traceback__) if "/src/vyre/" in f.filename]


def test_functions_of_the_user_keep_the_error_of_python() -> None:
    def pad(x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'") as caught:
        vt.function(lambda x: pad(x, mode="edge"))(X)
    assert not isinstance(caught.value, VyreError)


def test_an_error_inside_of_a_function_of_the_user_is_left_alone() -> None:
    with pytest.raises(TypeError) as caught:
        vt.function(lambda x: x + len(5))(X)  # pyright: ignore[reportArgumentType]
    assert not isinstance(caught.value, VyreError)
