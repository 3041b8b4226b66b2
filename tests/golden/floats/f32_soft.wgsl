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
@group(0) @binding(2) var<storage, read_write> b_out: array<u32>;
@group(0) @binding(3) var<uniform> hidden: array<vec4<u32>, 1>;
fn hidden_base_x() -> u32 { return hidden[0].x; }
fn hidden_base_y() -> u32 { return hidden[0].y; }
fn hidden_base_z() -> u32 { return hidden[0].z; }
fn get_a(i: u32) -> u32 { return b_a[i]; }
fn get_b(i: u32) -> u32 { return b_b[i]; }
fn put_out(i: u32, v: u32) { b_out[i] = v; }
fn soft_f32_mul(v_a: u32, v_b: u32) -> u32 {
  var v_size_a: u32 = (v_a & 2147483647u);
  var v_size_b: u32 = (v_b & 2147483647u);
  var v_field_a: u32 = ((v_a >> 23u) & 255u);
  var v_subnormal_a: u32 = select(0u, 1u, v_field_a == 0u);
  var v_raw_a: u32 = (((v_a & 8388607u) << 8u) | select(2147483648u, 0u, v_subnormal_a != 0u));
  var v_zeros_a: u32 = clz_u32(v_raw_a);
  var v_significand_a: u32 = (v_raw_a << (v_zeros_a & 31u));
  var v_exponent_a: u32 = ((v_field_a + v_subnormal_a) - v_zeros_a);
  var v_field_b: u32 = ((v_b >> 23u) & 255u);
  var v_subnormal_b: u32 = select(0u, 1u, v_field_b == 0u);
  var v_raw_b: u32 = (((v_b & 8388607u) << 8u) | select(2147483648u, 0u, v_subnormal_b != 0u));
  var v_zeros_b: u32 = clz_u32(v_raw_b);
  var v_significand_b: u32 = (v_raw_b << (v_zeros_b & 31u));
  var v_exponent_b: u32 = ((v_field_b + v_subnormal_b) - v_zeros_b);
  var v_low: u32 = (v_significand_a * v_significand_b);
  var v_product: u32 = (mul_hi_u32(v_significand_a, v_significand_b) | select(0u, 1u, v_low != 0u));
  var v_carry: u32 = (v_product >> 31u);
  var v_significand: u32 = (v_product << ((v_carry ^ 1u) & 31u));
  var v_exponent: u32 = (((v_exponent_a + v_exponent_b) + v_carry) + 129u);
  var v_tiny: u32 = select(0u, 1u, v_exponent <= 256u);
  var v_below: u32 = select(0u, (257u - v_exponent), v_tiny != 0u);
  var v_shift: u32 = select(31u, v_below, v_below < 31u);
  var v_moved: u32 = (v_significand >> (v_shift & 31u));
  var v_jammed: u32 = (v_moved | select(0u, 1u, (v_moved << (v_shift & 31u)) != v_significand));
  var v_field: u32 = select((v_exponent - 257u), 0u, v_tiny != 0u);
  var v_kept: u32 = (v_jammed >> 8u);
  var v_rest: u32 = (v_jammed & 255u);
  var v_up: u32 = select(0u, 1u, (v_rest + (v_kept & 1u)) > 128u);
  var v_whole: u32 = (((v_field << 23u) + v_kept) + v_up);
  var v_finite: u32 = select(2139095040u, v_whole, v_whole < 2139095040u);
  var v_sign: u32 = ((v_a ^ v_b) & 2147483648u);
  var v_most: u32 = select(v_size_a, v_size_b, v_size_a < v_size_b);
  var v_least: u32 = select(v_size_b, v_size_a, v_size_a < v_size_b);
  var v_invalid: u32 = (select(0u, 1u, v_most > 2139095040u) | (select(0u, 1u, v_most == 2139095040u) & select(0u, 1u, v_least == 0u)));
  var v_special: u32 = select((v_sign | 2139095040u), 2143289344u, v_invalid != 0u);
  var v_value: u32 = select((v_sign | v_finite), v_sign, v_least == 0u);
  return select(v_value, v_special, v_most >= 2139095040u);
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
  put_out(v_i, soft_f32_mul(get_a(v_i), get_b(v_i)));
}
