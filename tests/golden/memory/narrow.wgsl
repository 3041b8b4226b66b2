fn lit(a: u32) -> u32 { return a; }
fn div_u32(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a / b; }
fn mod_u32(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a % b; }
fn mul_hi_u32(a: u32, b: u32) -> u32 {
  let al = a & 65535u; let ah = a >> 16u; let bl = b & 65535u; let bh = b >> 16u;
  let m = ah * bl + ((al * bl) >> 16u);
  let k = al * bh + (m & 65535u);
  return ah * bh + (m >> 16u) + (k >> 16u);
}
fn popcount_u32(a: u32) -> u32 { return countOneBits(a); }
fn clz_u32(a: u32) -> u32 { return countLeadingZeros(a); }
fn ctz_u32(a: u32) -> u32 { return countOneBits((a & (0u - a)) - 1u); }
fn reverse_u32(a: u32) -> u32 { return reverseBits(a); }
fn any_2(a: vec2<u32>) -> u32 { return select(0u, 1u, (a.x | a.y) != 0u); }
fn any_4(a: vec4<u32>) -> u32 { return select(0u, 1u, (a.x | a.y | a.z | a.w) != 0u); }
fn zext_1_2(a: u32) -> vec2<u32> { return vec2<u32>(a, 0u); }
fn zext_1_4(a: u32) -> vec4<u32> { return vec4<u32>(a, 0u, 0u, 0u); }
fn zext_2_4(a: vec2<u32>) -> vec4<u32> { return vec4<u32>(a.x, a.y, 0u, 0u); }
fn sext_2(a: u32) -> vec2<u32> { return vec2<u32>(a, 0u - (a >> 31u)); }
fn sext_4(a: u32) -> vec4<u32> { let s = 0u - (a >> 31u); return vec4<u32>(a, s, s, s); }
fn splat_2(a: u32) -> vec2<u32> { return vec2<u32>(a, a); }
fn splat_4(a: u32) -> vec4<u32> { return vec4<u32>(a, a, a, a); }
fn low_4_2(a: vec4<u32>) -> vec2<u32> { return a.xy; }
fn neg_f64(a: vec2<u32>) -> vec2<u32> { return vec2<u32>(a.x, a.y ^ 2147483648u); }
fn abs_f64(a: vec2<u32>) -> vec2<u32> { return vec2<u32>(a.x, a.y & 2147483647u); }
@group(0) @binding(0) var<storage, read> b_a: array<u32>;
@group(0) @binding(1) var<storage, read> b_b: array<u32>;
@group(0) @binding(2) var<storage, read_write> b_c: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> b_out: array<atomic<u32>>;
@group(0) @binding(4) var<uniform> hidden: array<vec4<u32>, 2>;
fn hidden_base_x() -> u32 { return hidden[0].x; }
fn hidden_base_y() -> u32 { return hidden[0].y; }
fn hidden_base_z() -> u32 { return hidden[0].z; }
fn hidden_len_a() -> u32 { return hidden[0].w; }
fn hidden_len_c() -> u32 { return hidden[1].x; }
fn hidden_len_out() -> u32 { return hidden[1].y; }
var<workgroup> b_tile: array<u32, 64>;
fn load_a(i: u32) -> u32 {
  if (i < hidden_len_a()) { return (((b_a[i >> 2u] >> ((i & 3u) << 3u)) & 255u) ^ 128u) - 128u; }
  return 0u;
}
fn get_b(i: u32) -> u32 { return (b_b[i >> 2u] >> ((i & 3u) << 3u)) & 255u; }
fn load_c(i: u32) -> u32 {
  if (i < hidden_len_c()) { return (((atomicLoad(&b_c[i >> 1u]) >> ((i & 1u) << 4u)) & 65535u) ^ 32768u) - 32768u; }
  return 0u;
}
fn store_c(i: u32, v: u32) {
  if (i < hidden_len_c()) { let s = (i & 1u) << 4u; let old = atomicLoad(&b_c[i >> 1u]); atomicXor(&b_c[i >> 1u], (old ^ (v << s)) & (65535u << s)); }
}
fn store_out(i: u32, v: u32) {
  if (i < hidden_len_out()) { let s = (i & 3u) << 3u; let old = atomicLoad(&b_out[i >> 2u]); atomicXor(&b_out[i >> 2u], (old ^ (v << s)) & (255u << s)); }
}
fn get_tile(i: u32) -> u32 { return ((b_tile[i] & 255u) ^ 128u) - 128u; }
fn put_tile(i: u32, v: u32) { b_tile[i] = v; }
@compute @workgroup_size(64, 1, 1)
fn vyre_main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let local_x = local.x;
  let workgroup_x = group.x + hidden_base_x();
  let invocation_x = workgroup_x * 64u + local_x;
  let local_y = local.y;
  let workgroup_y = group.y + hidden_base_y();
  let invocation_y = workgroup_y * 1u + local_y;
  let local_z = local.z;
  let workgroup_z = group.z + hidden_base_z();
  let invocation_z = workgroup_z * 1u + local_z;
  let len_a = hidden_len_a();
  let len_c = hidden_len_c();
  let len_out = hidden_len_out();
  let lane = local_x + 64u * (local_y + 1u * local_z);
  for (var i = lane; i < 64u; i += 64u) { b_tile[i] = u32(); }
  workgroupBarrier();
  var v_k: u32 = local_x;
  put_tile(v_k, load_a(invocation_x));
  workgroupBarrier();
  storageBarrier();
  store_c(invocation_x, (get_tile((63u - v_k)) + get_b(v_k)));
  store_out(invocation_x, load_c(invocation_x));
}
