"""Arrays of other libraries as arguments, and those that their library does not hand over."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pytest

import vyre
from vyre import tensor as vt
from vyre.errors import DispatchError


class Withheld:
    """Of a library that says why it gives nothing, in errors of its own."""

    shape = (2,)

    def __init__(self, error: Exception, dtype: str = "float32") -> None:
        self.error = error
        self.dtype = dtype

    def __dlpack__(self, **_: Any) -> NoReturn:
        raise self.error

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class WithheldOfNumpy(Withheld):
    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise self.error


@pytest.mark.parametrize("kind", [Withheld, WithheldOfNumpy])
@pytest.mark.parametrize(
    ("error", "dtype", "fix"),
    [
        (RuntimeError("it requires grad. Detach it."), "float32", r"grad\. Detach it\. Fix: pass x\.detach"),
        (TypeError("Got unsupported ScalarType"), "torch.bfloat16", r"view\(ml_dtypes\.bfloat16\)"),
        (BufferError("it is sparse"), "float32", "pass an array of the host with all of its elements"),
    ],
)
def test_an_array_that_is_not_handed_over_is_refused_in_a_sentence(
    kind: type[Withheld], error: Exception, dtype: str, fix: str
) -> None:
    given: Any = kind(error, dtype)
    with pytest.raises(DispatchError, match=f"an argument is not an array that NumPy can read: .*{fix}"):
        vt.function(lambda x: x + 1)(given, backend="cpu")
    with pytest.raises(DispatchError, match=f"the array is not an array that NumPy can read: .*{fix}"):
        vyre.array(given, vyre.f32)


def test_what_is_no_backend_is_refused() -> None:
    number: Any = 3
    x = np.ones(2, np.float32)
    for call in (
        lambda: vt.function(lambda x: x + 1)(x, backend=number),
        lambda: vyre.to_device(x, backend=number),
        lambda: vt.function(lambda x: x + 1).replayed(
            vyre.to_device(x, backend="cpu"), into=vyre.to_device(x, backend="cpu"), backend=number
        ),
    ):
        with pytest.raises(DispatchError, match=r"3 is not a backend\. Fix: pass the name of one"):
            call()
