"""Functions of tensors that are called with arguments they do not take: what was wrong, and what to write."""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from vyre import errors
from vyre.errors import VyreError
from vyre.tensor import value
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from types import FrameType

_SAID = re.compile(r"([\w.]+)\(\) (?:got an unexpected keyword argument '(\w+)'|missing|takes|got multiple)")
_HERE = {"dim": "axis", "dims": "axis", "keepdim": "keepdims"}
"""Keywords of torch, and their names here."""
_ROOMS = ("vyre.tensor", "vyre.nn")
_DOORS = (errors.__name__, value.__name__)
"""Where the wrappers of our functions are."""


def explained(error: TypeError) -> VyreError | None:
    """The error that names the call to write; None where it is not one of our functions that was called."""
    said, caller = _SAID.match(str(error)), _caller(error)
    target = _target(said[1], caller) if said is not None and caller is not None else None
    if said is None or target is None:
        return None
    name = said[1].rpartition(".")[2]
    parameters = [str(p).partition(":")[0] for p in inspect.signature(target).parameters.values()]
    fix = f"write {said[2]} as {_HERE[said[2]]}=: " if said[2] in _HERE else "it is called as "
    fix += f"{name}({', '.join(p for p in parameters if p != 'self')})."
    return VyreError(f"{error}.", fix=fix)


def _caller(error: TypeError) -> FrameType | None:
    """Who made the call that failed, if that is not our own code; the doors of our functions are between."""
    frames: list[tuple[str, FrameType]] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append((str(trace.tb_frame.f_globals.get("__name__")), trace.tb_frame))
        trace = trace.tb_next
    while frames and frames[-1][0] in _DOORS:
        frames.pop()
    return frames[-1][1] if frames and not frames[-1][0].startswith("vyre.") else None


def _target(said: str, caller: FrameType) -> Any:
    """The function of ours that has this name, unless the caller has one of its own."""
    owner, _, name = said.rpartition(".")
    if owner:
        return getattr(Tensor, name, None) if owner == Tensor.__name__ else None
    found = [getattr(sys.modules.get(room), name, None) for room in _ROOMS]
    mine = caller.f_locals.get(name, caller.f_globals.get(name))
    return next((x for x in found if inspect.isfunction(x) and mine in (None, x)), None)
