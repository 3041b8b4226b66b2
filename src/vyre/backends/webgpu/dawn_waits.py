"""Waiting for Dawn in short turns, so that an interrupt is seen between two of them.

Everything of Dawn hangs on an instance, and so does the driver behind it: a device of the same instance may
wait for the work of another. A device that is left alone with its work therefore takes its instance with it,
and the next one gets an instance of its own.
"""

from __future__ import annotations

from typing import Any

from vyre.backends.interrupts import undisturbed

_TURN_NS = 50_000_000


class Waits:
    """The instance that dawn-python uses now."""

    def __init__(self, gpu: Any, utils: Any) -> None:
        self._gpu = gpu
        self._instance = utils.instance

    def map_buffer(self, buffer: Any, size: int) -> None:
        """Maps a staging buffer for reading. Raises `RuntimeError`."""
        gpu = self._gpu
        answers: list[int] = []

        def answer(status: int, _message: object, _first: object, _second: object) -> None:
            answers.append(status)

        request = gpu.WGPUBufferMapCallbackInfo2()
        request.mode = gpu.WGPUCallbackMode_WaitAnyOnly
        request.callback = gpu.WGPUBufferMapCallback2(answer)
        self._wait(gpu.wgpuBufferMapAsync2(buffer, gpu.WGPUMapMode_Read, 0, size, request))
        if answers != [gpu.WGPUBufferMapAsyncStatus_Success]:
            raise RuntimeError("the buffer could not be mapped; the device was lost")

    def sync(self, queue: Any) -> None:
        """Waits for all work of a queue. Raises `RuntimeError`."""
        done = Done(self._gpu, self._instance, queue)
        while not done.seen(_TURN_NS):
            pass
        if not done.succeeded:
            raise RuntimeError("the work failed; the device was lost")

    def later(self, queue: Any) -> Done:
        """When all work that a queue has now is done."""
        return Done(self._gpu, self._instance, queue)

    def _wait(self, future: Any) -> None:
        info = self._gpu.WGPUFutureWaitInfo()
        info.future = future
        while not _waited(self._gpu, self._instance, info, _TURN_NS):
            pass


class Done:
    """A question to a queue, asked once; it keeps the function that Dawn answers to."""

    def __init__(self, gpu: Any, instance: Any, queue: Any) -> None:
        self._gpu = gpu
        self._instance = instance
        answers: list[int] = []

        def answer(status: int, _first: object, _second: object) -> None:
            answers.append(status)

        self._answers = answers
        self.callback = gpu.WGPUQueueWorkDoneCallback2(answer)
        request = gpu.WGPUQueueWorkDoneCallbackInfo2()
        request.mode = gpu.WGPUCallbackMode_WaitAnyOnly
        request.callback = self.callback
        self._info = gpu.WGPUFutureWaitInfo()
        self._info.future = gpu.wgpuQueueOnSubmittedWorkDone2(queue, request)

    def seen(self, nanoseconds: int = 0) -> bool:
        """Whether the work is done, after waiting so long for it."""
        return bool(self._answers) or _waited(self._gpu, self._instance, self._info, nanoseconds)

    @property
    def succeeded(self) -> bool:
        return self._answers == [self._gpu.WGPUQueueWorkDoneStatus_Success]


def renew_instance(gpu: Any, utils: Any) -> None:
    """Has dawn-python, which made one instance when it was imported, use another from now on."""
    description = gpu.WGPUInstanceDescriptor()
    description.features.timedWaitAnyEnable = True
    utils.instance = gpu.wgpuCreateInstance(description)


def _waited(gpu: Any, instance: Any, info: Any, nanoseconds: int) -> bool:
    with undisturbed():  # raised in the function that Dawn calls, an interrupt would be lost
        status = gpu.wgpuInstanceWaitAny(instance, 1, info, nanoseconds)
    if status == gpu.WGPUWaitStatus_TimedOut:
        return False
    if status != gpu.WGPUWaitStatus_Success:
        raise RuntimeError("the future failed")
    return True
