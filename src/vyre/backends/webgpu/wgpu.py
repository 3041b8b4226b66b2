"""WGSL through wgpu: Naga compiles, Vulkan, Metal or D3D12 runs. Headless."""

from __future__ import annotations

import gc
import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vyre.backends.forks import abandon, renew_after_fork
from vyre.backends.webgpu.backend import WebGpuBackend
from vyre.backends.webgpu.device import (
    STAGING,
    STORAGE,
    UNIFORM,
    DeviceFacts,
    DeviceFault,
    DeviceLimits,
    RejectedSource,
)
from vyre.errors import BackendUnavailable
from vyre.lower.intrinsics import WGSL_ENABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from vyre.backends.webgpu.device import Launch
    from vyre.lower.source import Source

_NO_DEVICE_FIX = "install a Vulkan driver, for example apt-get install mesa-vulkan-drivers."


class WgpuBackend(WebGpuBackend):
    """The adapter that wgpu prefers, with all its limits."""

    name = "wgpu"

    def __init__(self, *, canaries: bool = True) -> None:
        super().__init__(WgpuDevice, canaries=canaries)


class WgpuDevice:
    """A device of wgpu. Its errors arrive inside the call that caused them, as exceptions."""

    def __init__(self) -> None:
        wgpu: Any = importlib.import_module("wgpu")
        native: Any = importlib.import_module("wgpu.backends.wgpu_native")
        self._wgpu = wgpu
        adapter = _adapter(wgpu)
        try:
            self.subgroups = "subgroup" in adapter.features
            self._device = adapter.request_device_sync(
                required_features=["subgroup"] if self.subgroups else [],
                required_limits=dict(adapter.limits),
            )
        except (RuntimeError, wgpu.GPUError) as error:
            raise BackendUnavailable(f"wgpu cannot open the adapter: {error}", fix=_NO_DEVICE_FIX) from None
        self._queue = self._device.queue
        info = adapter.info
        library = ".".join(str(n) for n in native.lib_version_info[:3])
        self.facts = DeviceFacts(
            device=str(info["device"]),
            driver=f"{info['vendor']} {info['description']} ({info['backend_type']})".strip(),
            version=str(wgpu.__version__),
            toolchain=f"wgpu-py {wgpu.__version__}, Naga of wgpu-native {library}",
        )
        self.limits = _limits(self._device.limits)
        usage = wgpu.BufferUsage
        self._usages = {
            STORAGE: usage.STORAGE | usage.COPY_SRC | usage.COPY_DST,
            UNIFORM: usage.UNIFORM | usage.COPY_DST,
            STAGING: usage.MAP_READ | usage.COPY_DST,
        }
        renew_after_fork(self)

    def renew(self) -> None:
        """In the child of a fork: objects of wgpu stay as they are, for releasing one waits for ever."""
        kinds = (self._wgpu.GPUObjectBase, self._wgpu.GPUAdapter)
        abandon(thing for thing in gc.get_objects() if isinstance(thing, kinds))

    def abandon(self) -> bool:
        """All devices of wgpu share an instance, and the driver behind it goes on with the work first."""
        return False

    def idle(self) -> bool:
        return False

    def build(self, source: Source) -> Any:
        device = self._device
        visibility = self._wgpu.ShaderStage.COMPUTE
        entries: list[dict[str, Any]] = []
        for number, decl in enumerate(source.buffers):
            kind = "storage" if decl.access.writable else "read-only-storage"
            entries.append({"binding": number, "visibility": visibility, "buffer": {"type": kind}})
        hidden = {"type": "uniform", "has_dynamic_offset": True}
        entries.append({"binding": len(source.buffers), "visibility": visibility, "buffer": hidden})
        with self._faults():
            group = device.create_bind_group_layout(entries=entries)
            layout = device.create_pipeline_layout(bind_group_layouts=[group])
        try:
            # Naga has the builtins of the extension and rejects its name.
            module = device.create_shader_module(code=source.text.removeprefix(WGSL_ENABLE))
            stage = {"module": module, "entry_point": source.entry}
            pipeline = device.create_compute_pipeline(layout=layout, compute=stage)
        except self._wgpu.GPUError as error:
            raise RejectedSource(str(error)) from None
        return pipeline, group

    def allocate(self, kind: str, size: int) -> Any:
        with self._faults():
            return self._device.create_buffer(size=size, usage=self._usages[kind])

    def free(self, buffer: Any) -> None:
        buffer.destroy()

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        with self._faults():
            self._queue.write_buffer(buffer, offset, data)

    def bind(self, kernel: Any, bindings: Sequence[tuple[Any, int]]) -> Any:
        _, layout = kernel
        entries = [
            {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": size}}
            for number, (buffer, size) in enumerate(bindings)
        ]
        with self._faults():
            return self._device.create_bind_group(layout=layout, entries=entries)

    def launch(self, kernel: Any, group: Any, launches: Sequence[Launch]) -> None:
        pipeline, _ = kernel
        with self._faults():
            encoder = self._device.create_command_encoder()
            commands = encoder.begin_compute_pass()
            commands.set_pipeline(pipeline)
            for launch in launches:
                commands.set_bind_group(0, group, [launch.offset])
                commands.dispatch_workgroups(*launch.grid)
            commands.end()
            self._queue.submit([encoder.finish()])

    def copy(self, source: Any, offset: int, target: Any, size: int) -> None:
        with self._faults():
            encoder = self._device.create_command_encoder()
            encoder.copy_buffer_to_buffer(source, offset, target, 0, size)
            self._queue.submit([encoder.finish()])

    def read(self, staging: Any, target: memoryview) -> None:
        size = -(-target.nbytes // 4) * 4
        with self._faults():
            staging.map_sync("READ", 0, size)
            try:
                target[:] = staging.read_mapped(0, size, copy=False)[: target.nbytes]
            finally:
                staging.unmap()

    def finish(self) -> None:
        with self._faults():
            # wgpu-native ends the process when work is submitted to a lost device; finishing an encoder
            # before it is what reports the loss as an error.
            self._queue.submit([self._device.create_command_encoder().finish()])
            # The public way, on_submitted_work_done_sync, raises TypeError in wgpu-py 0.32.
            self._device._poll_wait()

    @contextmanager
    def _faults(self) -> Generator[None]:
        try:
            yield
        except (self._wgpu.GPUError, RuntimeError, ValueError) as error:
            raise DeviceFault(
                str(error),
                lost="device is lost" in str(error).lower(),
                out_of_memory=isinstance(error, self._wgpu.GPUOutOfMemoryError),
            ) from None


def _adapter(wgpu: Any) -> Any:
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError as error:
        raise BackendUnavailable(f"wgpu finds no adapter: {error}", fix=_NO_DEVICE_FIX) from None
    if adapter.info["backend_type"] == "OpenGL":
        raise BackendUnavailable("wgpu finds no adapter but OpenGL.", fix=_NO_DEVICE_FIX)
    return adapter


def _limits(limits: Any) -> DeviceLimits:
    def limit(name: str) -> int:
        return int(limits[f"max-{name}"])

    return DeviceLimits(
        buffer_bytes=limit("buffer-size"),
        binding_bytes=limit("storage-buffer-binding-size"),
        storage_buffers=limit("storage-buffers-per-shader-stage"),
        uniform_alignment=int(limits["min-uniform-buffer-offset-alignment"]),
        invocations=limit("compute-invocations-per-workgroup"),
        workgroup_size=(
            limit("compute-workgroup-size-x"),
            limit("compute-workgroup-size-y"),
            limit("compute-workgroup-size-z"),
        ),
        workgroup_bytes=limit("compute-workgroup-storage-size"),
        workgroups_per_axis=limit("compute-workgroups-per-dimension"),
    )
