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
@group(0) @binding(0) var<storage, read_write> b_out: array<u32>;
@group(0) @binding(1) var<uniform> hidden: array<vec4<u32>, 6>;
fn hidden_base_x() -> u32 { return hidden[0].x; }
fn hidden_base_y() -> u32 { return hidden[0].y; }
fn hidden_base_z() -> u32 { return hidden[0].z; }
fn hidden_len_out() -> u32 { return hidden[0].w; }
fn word_days(w: u32) -> u32 { return hidden[1u + (w >> 2u)][w & 3u]; }
fn word_halves(w: u32) -> u32 { return hidden[4u + (w >> 2u)][w & 3u]; }
fn word_pairs(w: u32) -> u32 { return hidden[5u + (w >> 2u)][w & 3u]; }
fn store_out(i: u32, v: u32) {
  if (i < hidden_len_out()) { b_out[i] = v; }
}
fn load_days(i: u32) -> u32 {
  if (i < 12u) { return word_days(i); }
  return 0u;
}
fn get_days(i: u32) -> u32 { return word_days(i); }
fn load_halves(i: u32) -> u32 {
  if (i < 3u) { return (word_halves(i >> 1u) >> ((i & 1u) << 4u)) & 65535u; }
  return 0u;
}
fn get_pairs(i: u32) -> vec2<u32> { return vec2<u32>(word_pairs(i * 2u + 0u), word_pairs(i * 2u + 1u)); }
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
  let len_out = hidden_len_out();
  var v_i: u32 = invocation_x;
  store_out(v_i, (((get_days((v_i % 12u)) + load_days(v_i)) + get_pairs((v_i & 1u)).y) + load_halves(v_i)));
}
