// Runs an exported kernel from its manifest alone (docs/kernel-abi.md). Nothing here knows which kernel it is.
//
//   const kernel = await Kernel.load("manifest.json");
//   const { out } = await kernel.run({ scalars: { left: -2 }, lengths: { out: 64 }, workgroups: [1, 1, 1] });

const FORMAT = "vyre-kernel-1";
const WRITE = {
  U32: (view, at, value) => view.setUint32(at, value, true),
  I32: (view, at, value) => view.setInt32(at, value, true),
  F32: (view, at, value) => view.setFloat32(at, value, true),
  Bool: (view, at, value) => view.setUint32(at, value ? 1 : 0, true),
  U64: (view, at, value) => view.setBigUint64(at, BigInt(value), true),
};

export class Kernel {
  static async load(address) {
    const manifest = await (await found(address)).json();
    if (manifest.format !== FORMAT || manifest.language !== "wgsl") {
      throw new Error(`this page runs ${FORMAT} in WGSL, and the manifest is ${manifest.format} in ${manifest.language}.`);
    }
    const source = await (await found(new URL(manifest.source, new URL(address, location.href)))).text();
    if (!navigator.gpu) throw new Error("this browser has no WebGPU.");
    const adapter = await navigator.gpu.requestAdapter();
    if (!adapter) throw new Error("this browser finds no GPU for WebGPU.");
    const device = await adapter.requestDevice(required(manifest));
    return new Kernel(manifest, device, adapter.info, await compiled(manifest, device, source));
  }

  constructor(manifest, device, info, { layout, pipeline }) {
    Object.assign(this, { manifest, device, info, layout, pipeline });
  }

  // `arrays` has the bytes of buffers by name; a buffer that is not in it is zeros, of `lengths` elements.
  async run({ arrays = {}, scalars = {}, lengths = {}, workgroups }) {
    const { manifest, device } = this;
    const counts = {}, bound = {}, sizes = {};
    for (const b of manifest.buffers) {
      const bytes = b.scalars ? packed(b, scalars, workgroups) : arrays[b.name];
      counts[b.name] = bytes ? bytes.byteLength / b.stride : b.count ?? lengths[b.name];
      if (counts[b.name] === undefined) throw new Error(`nothing says how long ${b.name} is.`);
      if (b.count !== null && counts[b.name] !== b.count) throw new Error(`${b.name} has ${b.count} elements.`);
      sizes[b.name] = counts[b.name] * b.stride;
      const size = Math.max(b.min_bytes, Math.ceil(sizes[b.name] / b.size_multiple) * b.size_multiple);
      const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
      bound[b.name] = device.createBuffer({ size, usage, mappedAtCreation: true });
      if (bytes) new Uint8Array(bound[b.name].getMappedRange()).set(new Uint8Array(bytes));
      bound[b.name].unmap();
    }
    const encoder = device.createCommandEncoder();
    for (const launch of launches(workgroups, device.limits.maxComputeWorkgroupsPerDimension)) {
      const entries = manifest.buffers.map((b) => ({ binding: b.position, resource: { buffer: bound[b.name] } }));
      const buffer = hidden(manifest, device, counts, launch.base);
      entries.push({ binding: manifest.hidden.binding, resource: { buffer } });
      const pass = encoder.beginComputePass();
      pass.setPipeline(this.pipeline);
      pass.setBindGroup(manifest.hidden.group, device.createBindGroup({ layout: this.layout, entries }));
      pass.dispatchWorkgroups(...launch.count);
      pass.end();
    }
    const copies = {};
    for (const b of manifest.buffers.filter((b) => b.access === "ReadWrite")) {
      const { size } = bound[b.name];
      copies[b.name] = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      encoder.copyBufferToBuffer(bound[b.name], 0, copies[b.name], 0, size);
    }
    device.queue.submit([encoder.finish()]);
    const results = {};
    for (const [name, copy] of Object.entries(copies)) {
      await copy.mapAsync(GPUMapMode.READ);
      results[name] = copy.getMappedRange().slice(0, sizes[name]);
    }
    for (const buffer of [...Object.values(bound), ...Object.values(copies)]) buffer.destroy();
    return results;
  }
}

async function found(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} is missing: ${answer.status}.`);
  return answer;
}

function required({ limits, subgroup_width: width }) {
  return {
    requiredFeatures: width ? ["subgroups"] : [],
    requiredLimits: {
      maxStorageBuffersPerShaderStage: limits.storage_buffers,
      maxComputeInvocationsPerWorkgroup: limits.invocations_per_workgroup,
      maxComputeWorkgroupStorageSize: limits.workgroup_bytes,
    },
  };
}

async function compiled(manifest, device, code) {
  const visibility = GPUShaderStage.COMPUTE;
  const entries = manifest.buffers.map((b) => {
    const type = b.access === "ReadWrite" ? "storage" : "read-only-storage";
    return { binding: b.position, visibility, buffer: { type } };
  });
  entries.push({ binding: manifest.hidden.binding, visibility, buffer: { type: "uniform" } });
  const layout = device.createBindGroupLayout({ entries });
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: device.createShaderModule({ code }), entryPoint: manifest.entry },
  });
  return { layout, pipeline };
}

// The bytes of a buffer of scalars: by name, by default, or what the grid says.
function packed(buffer, scalars, workgroups) {
  const bytes = new Uint8Array(buffer.count * buffer.stride);
  const grid = { grid_x: workgroups[0], grid_y: workgroups[1], grid_z: workgroups[2] };
  for (const { name, element, offset, meaning, default: given } of buffer.scalars) {
    const value = scalars[name] ?? (meaning ? grid[name] : undefined);
    if (value !== undefined) {
      if (!WRITE[element]) throw new Error(`this page cannot write the ${element} ${name}.`);
      WRITE[element](new DataView(bytes.buffer), offset, value);
    } else if (given) {
      bytes.set(fromHex(given), offset);
    } else {
      throw new Error(`nothing was given for ${name}${meaning ? `, the ${meaning}` : ""}.`);
    }
  }
  return bytes.buffer;
}

function hidden({ hidden: { bytes, words, tables } }, device, counts, base) {
  const data = new Uint8Array(bytes);
  const view = new DataView(data.buffer);
  const first = { base_x: base[0], base_y: base[1], base_z: base[2], zero: 0 };
  for (const word of words) view.setUint32(word.offset, word.buffer ? counts[word.buffer] : first[word.name], true);
  if (tables) data.set(fromHex(tables.hex), tables.offset);
  const buffer = device.createBuffer({ size: bytes, usage: GPUBufferUsage.UNIFORM, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(data);
  buffer.unmap();
  return buffer;
}

// A large grid takes several launches; each says where it starts.
function* launches([x, y, z], most) {
  for (let c = 0; c < z; c += most)
    for (let b = 0; b < y; b += most)
      for (let a = 0; a < x; a += most)
        yield { base: [a, b, c], count: [Math.min(most, x - a), Math.min(most, y - b), Math.min(most, z - c)] };
}

function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
