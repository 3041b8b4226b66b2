"""WGSL through Dawn: Tint compiles, Vulkan, Metal or D3D12 runs. Headless, by way of dawn-python."""

from __future__ import annotations

import ctypes
import importlib
import sys
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.forks import Home, abandon
from vyre.backends.webgpu.backend import WebGpuBackend
from vyre.backends.webgpu.dawn_reports import Reports, request_device
from vyre.backends.webgpu.dawn_waits import Waits, renew_instance
from vyre.backends.webgpu.device import STAGING, STORAGE, UNIFORM, DeviceFacts, DeviceLimits, RejectedSource
from vyre.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from vyre.backends.webgpu.dawn_waits import Done
    from vyre.backends.webgpu.device import Launch
    from vyre.lower.source import Source

_NO_DEVICE_FIX = "install a Vulkan driver, for example apt-get install mesa-vulkan-drivers."

_SWEEP_EVERY = 8
"""Builds; a released kernel was seen to hold 0.4 MB until then."""


class DawnBackend(WebGpuBackend):
    """The adapter that Dawn prefers, with all its limits."""

    name = "dawn"

    def __init__(self, *, canaries: bool = True) -> None:
        super().__init__(DawnDevice, canaries=canaries)


class DawnDevice:
    """A device of Dawn. It reports errors by callbacks within a call, which is asked for them at its end."""

    def __init__(self) -> None:
        self._home = Home(DawnBackend.name)
        self._gpu: Any = importlib.import_module("pydawn.webgpu")
        self._utils: Any = importlib.import_module("pydawn.utils")
        self._alone: Done | None = None
        self._kept: list[Any] = []
        gpu, utils = self._gpu, self._utils
        self._waits = Waits(gpu, utils)
        try:
            adapter = utils.request_adapter_sync(gpu.WGPUPowerPreference_HighPerformance)
            subgroups = gpu.WGPUFeatureName_Subgroups
            self.subgroups = bool(gpu.wgpuAdapterHasFeature(adapter, subgroups))
            self._reports = Reports(gpu, utils)
            features = [subgroups] if self.subgroups else []
            self._device = request_device(gpu, utils, adapter, features, self._reports)
        except (RuntimeError, AssertionError) as error:
            raise BackendUnavailable(f"Dawn finds no device: {error}", fix=_NO_DEVICE_FIX) from None
        self._queue = gpu.wgpuDeviceGetQueue(self._device)
        self.facts = self._describe(adapter)
        self.limits = self._limits()
        self._usages = {
            STORAGE: gpu.WGPUBufferUsage_Storage | gpu.WGPUBufferUsage_CopySrc | gpu.WGPUBufferUsage_CopyDst,
            UNIFORM: gpu.WGPUBufferUsage_Uniform | gpu.WGPUBufferUsage_CopyDst,
            STAGING: gpu.WGPUBufferUsage_MapRead | gpu.WGPUBufferUsage_CopyDst,
        }
        self._one_command = gpu.WGPUCommandBuffer * 1
        self._builds = 0

    def abandon(self) -> bool:
        """Leaves the device alone with its work; what is freed from now on is kept until that is done."""
        if self._alone is None:
            self._alone = self._waits.later(self._queue)
            renew_instance(self._gpu, self._utils)
        return True

    def idle(self) -> bool:
        """Whether the work that the device was left alone with is done."""
        if self._alone is None or not self._alone.seen():
            return False
        while self._kept:
            self._free(self._kept.pop())
        return True

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if hasattr(self, "_device") and not finalizing() and self._home.here:
            if self._alone is not None and not self.idle():
                # It works on, and may still call what it was given.
                abandon([self._reports, self._alone])
                return
            # A destroyed device reports nothing any more, so that its callbacks may go.
            self._gpu.wgpuDeviceDestroy(self._device)
            self._gpu.wgpuDeviceRelease(self._device)

    def _describe(self, adapter: Any) -> DeviceFacts:
        info = self._gpu.WGPUAdapterInfo()
        self._gpu.wgpuAdapterGetInfo(adapter, info)
        library = version("dawn-python")
        return DeviceFacts(
            device=self._utils.from_wgpu_str(info.device),
            driver=self._utils.from_wgpu_str(info.description),
            version=library,
            toolchain=f"dawn-python {library}, Tint",
        )

    def _limits(self) -> DeviceLimits:
        supported = self._gpu.WGPUSupportedLimits()
        self._gpu.wgpuDeviceGetLimits(self._device, supported)
        found = supported.limits
        return DeviceLimits(
            buffer_bytes=found.maxBufferSize,
            binding_bytes=found.maxStorageBufferBindingSize,
            storage_buffers=found.maxStorageBuffersPerShaderStage,
            uniform_alignment=found.minUniformBufferOffsetAlignment,
            invocations=found.maxComputeInvocationsPerWorkgroup,
            workgroup_size=(
                found.maxComputeWorkgroupSizeX,
                found.maxComputeWorkgroupSizeY,
                found.maxComputeWorkgroupSizeZ,
            ),
            workgroup_bytes=found.maxComputeWorkgroupStorageSize,
            workgroups_per_axis=found.maxComputeWorkgroupsPerDimension,
        )

    def build(self, source: Source) -> _Kernel:
        gpu, utils, device = self._gpu, self._utils, self._device
        self._sweep()
        with self._faults():
            group = self._group_layout(source)
            layout = utils.create_pipeline_layout(device, [group])
        kernel = _Kernel(gpu, self._home, group)
        try:
            module = utils.create_shader_module(device, source.text)
        except RuntimeError as error:
            gpu.wgpuPipelineLayoutRelease(layout)
            raise RejectedSource(str(error)) from None
        try:
            stage = {"module": module, "entry_point": source.entry}
            kernel.pipeline = utils.create_compute_pipeline(device, layout, stage)
        except RuntimeError as error:
            raise RejectedSource(str(error)) from None
        finally:
            gpu.wgpuShaderModuleRelease(module)
            gpu.wgpuPipelineLayoutRelease(layout)
        return kernel

    def _sweep(self) -> None:
        """Lets Dawn delete kernels that were released: it waits for a submission made after the release."""
        self._builds += 1
        if self._builds % _SWEEP_EVERY == 0:
            with self._faults():
                self._submit(self._gpu.wgpuDeviceCreateCommandEncoder(self._device, None))
                self._gpu.wgpuDeviceTick(self._device)

    def _group_layout(self, source: Source) -> Any:
        gpu = self._gpu
        count = len(source.buffers) + 1
        entries = (gpu.WGPUBindGroupLayoutEntry * count)()
        for number, entry in enumerate(entries):
            entry.binding = number
            entry.visibility = gpu.WGPUShaderStage_Compute
            if number == count - 1:
                entry.buffer.type = gpu.WGPUBufferBindingType_Uniform
                entry.buffer.hasDynamicOffset = True
            elif source.buffers[number].access.writable:
                entry.buffer.type = gpu.WGPUBufferBindingType_Storage
            else:
                entry.buffer.type = gpu.WGPUBufferBindingType_ReadOnlyStorage
        description = gpu.WGPUBindGroupLayoutDescriptor()
        description.entryCount = count
        description.entries = entries
        return gpu.wgpuDeviceCreateBindGroupLayout(self._device, description)

    def allocate(self, kind: str, size: int) -> Any:
        with self._faults():
            return self._utils.create_buffer(self._device, size, self._usages[kind])

    def free(self, buffer: Any) -> None:
        if self._alone is not None:
            self._kept.append(buffer)
        else:
            self._free(buffer)

    def _free(self, buffer: Any) -> None:
        self._gpu.wgpuBufferDestroy(buffer)
        self._gpu.wgpuBufferRelease(buffer)

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        address = np.frombuffer(data, np.uint8).ctypes.data
        with self._faults():
            self._gpu.wgpuQueueWriteBuffer(self._queue, buffer, offset, address, data.nbytes)

    def launch(self, kernel: _Kernel, group: _Group, launches: Sequence[Launch]) -> None:
        gpu, handle = self._gpu, group.handle
        encoder = gpu.wgpuDeviceCreateCommandEncoder(self._device, None)
        commands = gpu.wgpuCommandEncoderBeginComputePass(encoder, None)
        gpu.wgpuComputePassEncoderSetPipeline(commands, kernel.pipeline)
        for launch in launches:
            offset = ctypes.c_uint32(launch.offset)
            gpu.wgpuComputePassEncoderSetBindGroup(commands, 0, handle, 1, ctypes.byref(offset))
            gpu.wgpuComputePassEncoderDispatchWorkgroups(commands, *launch.grid)
        gpu.wgpuComputePassEncoderEnd(commands)
        gpu.wgpuComputePassEncoderRelease(commands)
        self._submit(encoder)
        self._reports.raise_any()

    def bind(self, kernel: _Kernel, bindings: Sequence[tuple[Any, int]]) -> _Group:
        gpu = self._gpu
        entries = (gpu.WGPUBindGroupEntry * len(bindings))()
        for number, (entry, (buffer, size)) in enumerate(zip(entries, bindings, strict=True)):
            entry.binding = number
            entry.buffer = buffer
            entry.offset = 0
            entry.size = size
        description = gpu.WGPUBindGroupDescriptor()
        description.layout = kernel.group
        description.entryCount = len(bindings)
        description.entries = entries
        with self._faults():
            return _Group(gpu, self._home, gpu.wgpuDeviceCreateBindGroup(self._device, description))

    def _submit(self, encoder: Any) -> None:
        gpu = self._gpu
        commands = gpu.wgpuCommandEncoderFinish(encoder, None)
        gpu.wgpuQueueSubmit(self._queue, 1, self._one_command(commands))
        gpu.wgpuCommandBufferRelease(commands)
        gpu.wgpuCommandEncoderRelease(encoder)

    def copy(self, source: Any, offset: int, target: Any, size: int) -> None:
        with self._faults():
            encoder = self._gpu.wgpuDeviceCreateCommandEncoder(self._device, None)
            self._gpu.wgpuCommandEncoderCopyBufferToBuffer(encoder, source, offset, target, 0, size)
            self._submit(encoder)

    def read(self, staging: Any, target: memoryview) -> None:
        size = -(-target.nbytes // 4) * 4
        with self._faults():
            self._waits.map_buffer(staging, size)
            try:
                address = self._gpu.wgpuBufferGetConstMappedRange(staging, 0, size)
                mapped = (ctypes.c_uint8 * size).from_address(
                    ctypes.cast(address, ctypes.c_void_p).value or 0
                )
                target[:] = memoryview(mapped).cast("B")[: target.nbytes]
            finally:
                self._gpu.wgpuBufferUnmap(staging)

    def finish(self) -> None:
        with self._faults():
            self._waits.sync(self._queue)

    @contextmanager
    def _faults(self) -> Generator[None]:
        failure = ""
        try:
            yield
        except (RuntimeError, AssertionError) as error:
            failure = str(error) or "the device was lost"
        self._reports.raise_any(failure)


class _Kernel:
    """A pipeline and the layout of its buffers, given back to Dawn with the object."""

    def __init__(self, gpu: Any, home: Home, group: Any) -> None:
        self._gpu = gpu
        self._home = home
        self.group = group
        self.pipeline: Any = None

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing() or not self._home.here:
            return
        self._gpu.wgpuBindGroupLayoutRelease(self.group)
        if self.pipeline:
            self._gpu.wgpuComputePipelineRelease(self.pipeline)


class _Group:
    """A bind group, given back to Dawn with the object."""

    def __init__(self, gpu: Any, home: Home, handle: Any) -> None:
        self._gpu = gpu
        self._home = home
        self.handle = handle

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing() or not self._home.here:
            return
        self._gpu.wgpuBindGroupRelease(self.handle)
