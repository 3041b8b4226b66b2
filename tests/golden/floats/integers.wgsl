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
@group(0) @binding(1) var<storage, read_write> b_out: array<u32>;
@group(0) @binding(2) var<storage, read_write> b_back: array<u32>;
@group(0) @binding(3) var<uniform> hidden: array<vec4<u32>, 1>;
fn hidden_base_x() -> u32 { return hidden[0].x; }
fn hidden_base_y() -> u32 { return hidden[0].y; }
fn hidden_base_z() -> u32 { return hidden[0].z; }
fn get_a(i: u32) -> u32 { return b_a[i]; }
fn get_out(i: u32) -> u32 { return b_out[i]; }
fn put_out(i: u32, v: u32) { b_out[i] = v; }
fn put_back(i: u32, v: u32) { b_back[i] = v; }
fn soft_f32_from_i32(v_a: u32) -> u32 {
  var v_negative: u32 = (v_a >> 31u);
  var v_size: u32 = select(v_a, (0u - v_a), v_negative != 0u);
  var v_zeros: u32 = clz_u32(v_size);
  var v_significand: u32 = (v_size << (v_zeros & 31u));
  var v_field: u32 = (157u - v_zeros);
  var v_kept: u32 = (v_significand >> 8u);
  var v_rest: u32 = (v_significand & 255u);
  var v_up: u32 = select(0u, 1u, (v_rest + (v_kept & 1u)) > 128u);
  var v_whole: u32 = (((v_field << 23u) + v_kept) + v_up);
  var v_nearest: u32 = select(v_whole, 0u, v_size == 0u);
  return ((v_negative << 31u) | v_nearest);
}
fn soft_f32_to_i32_truncate(v_a: u32) -> u32 {
  var v_size: u32 = (v_a & 2147483647u);
  var v_sign: u32 = (v_a & 2147483648u);
  var v_field: u32 = (v_size >> 23u);
  var v_fraction: u32 = select(0u, 1u, v_size < 1065353216u);
  var v_places: u32 = select((150u - v_field), 23u, v_fraction != 0u);
  var v_mask: u32 = ((1u << (v_places & 31u)) - 1u);
  var v_rounded: u32 = (v_size & (~v_mask));
  var v_within: u32 = select(v_rounded, 0u, v_fraction != 0u);
  var v_integral: u32 = select(v_within, v_size, v_size >= 1258291200u);
  var v_aligned: u32 = ((v_integral << 8u) | 2147483648u);
  var v_whole: u32 = (v_aligned >> ((158u - (v_integral >> 23u)) & 31u));
  var v_value: u32 = select(v_whole, 0u, v_integral < 1065353216u);
  var v_beyond: u32 = select(0u, 1u, v_integral >= 1325400064u);
  return select(select(select(v_value, 2147483647u, v_beyond != 0u), select((0u - v_value), 2147483648u, v_beyond != 0u), v_sign != 0u), 0u, v_size > 2139095040u);
}
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
  var v_i: u32 = local_x;
  put_out(v_i, soft_f32_to_i32_truncate(get_a(v_i)));
  put_back(v_i, soft_f32_from_i32(get_out(v_i)));
}
