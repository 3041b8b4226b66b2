"""What a device of Dawn reports: errors and its loss, told by callbacks inside the call that caused them.

Error scopes tell the same, but opening and closing three of them takes longer than queueing a dispatch.
"""

from __future__ import annotations

import ctypes
from typing import Any

from vyre.backends.webgpu.device import DeviceFault


class Reports:
    """The callbacks of one device, which must live as long as the device, and what they were told."""

    def __init__(self, gpu: Any, utils: Any) -> None:
        told: list[tuple[bool, str]] = []
        losses: list[str] = []
        memory = gpu.WGPUErrorType_OutOfMemory

        def error(_device: object, kind: int, message: Any, _first: object, _second: object) -> None:
            told.append((kind == memory, utils.from_wgpu_str(message)))

        def lost(_device: object, _reason: int, message: Any, _first: object, _second: object) -> None:
            losses.append(utils.from_wgpu_str(message) or "the device was lost")

        # The functions hold the lists and not this object, which would otherwise hold itself.
        self._told = told
        self._losses = losses
        self.error = gpu.WGPUUncapturedErrorCallback(error)
        self.lost = gpu.WGPUDeviceLostCallback2(lost)

    def raise_any(self, failure: str = "") -> None:
        """Raises `DeviceFault` for what was reported since the last time, and for `failure`."""
        if not (self._told or self._losses or failure):
            return
        told, self._told[:] = self._told[:], []
        message = "; ".join(dict.fromkeys(filter(None, [failure, *self._losses, *(m for _, m in told)])))
        lost = bool(self._losses) or any(word in message.lower() for word in _LOST)
        raise DeviceFault(message, lost=lost, out_of_memory=any(memory for memory, _ in told) and not lost)


_LOST = ("disconnected", "lost", "future failed")
"""How a failed wait says that the device is gone."""


def request_device(gpu: Any, utils: Any, adapter: Any, features: list[int], reports: Reports) -> Any:
    """A device with all limits of the adapter that reports to `reports`. Raises `RuntimeError`."""
    toggles = gpu.WGPUDawnTogglesDescriptor()
    toggles.chain.sType = gpu.WGPUSType_DawnTogglesDescriptor
    name = utils.to_c_string("allow_unsafe_apis")  # some builds count subgroups among them
    names = ctypes.cast(ctypes.pointer(name), ctypes.POINTER(ctypes.c_char))
    toggles.enabledToggleCount = 1
    toggles.enabledToggles = ctypes.pointer(names)

    supported = gpu.WGPUSupportedLimits()
    gpu.wgpuAdapterGetLimits(adapter, supported)
    limits = gpu.WGPURequiredLimits()
    limits.limits = supported.limits

    wanted = (gpu.WGPUFeatureName * len(features))(*features)
    description = gpu.WGPUDeviceDescriptor()
    cast: Any = ctypes.cast
    description.nextInChain = cast(ctypes.pointer(toggles), ctypes.POINTER(gpu.struct_WGPUChainedStruct))
    description.requiredFeatureCount = len(features)
    description.requiredFeatures = cast(wanted, ctypes.POINTER(gpu.WGPUFeatureName))
    description.requiredLimits = ctypes.pointer(limits)
    description.uncapturedErrorCallbackInfo2.callback = reports.error
    description.deviceLostCallbackInfo2.mode = gpu.WGPUCallbackMode_AllowSpontaneous
    description.deviceLostCallbackInfo2.callback = reports.lost

    made: list[Any] = []
    refused: list[str] = []

    def answer(status: int, device: Any, message: Any, _: object) -> None:
        if status == gpu.WGPURequestDeviceStatus_Success:
            made.append(device)
        else:
            refused.append(utils.from_wgpu_str(message))

    request = gpu.WGPURequestDeviceCallbackInfo()
    request.mode = gpu.WGPUCallbackMode_WaitAnyOnly
    request.callback = gpu.WGPURequestDeviceCallback(answer)
    utils.wait(gpu.wgpuAdapterRequestDeviceF(adapter, description, request))
    if not made:
        raise RuntimeError("; ".join(refused) or "no device was given")
    return made[0]
