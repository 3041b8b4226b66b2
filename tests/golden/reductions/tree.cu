typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }
FN u32 native_f32_max(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return x == y ? (a & b) : (x > y || (b & 2147483647u) > 2139095040u) ? a : b; }
FN u32 native_f32_mul(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return __float_as_uint(__fmul_rn(x, y)); }
FN u32 soft_f32_canon(u32 v_a) {
  return (((v_a & 2147483647u) > 2139095040u) ? 2143289344u : v_a);
}

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_out
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  u32 v_start = 4u;
  u32 v_stop = 20u;
  u32 v_slot = 0u;
  u32 v_slot_1 = 0u;
  u32 v_slot_2 = 0u;
  u32 v_slot_3 = 0u;
  u32 v_slot_4 = 0u;
  u32 v_slot_5 = 0u;
  u32 v_slot_6 = 0u;
  u32 v_slot_7 = 0u;
  u32 v_slot_8 = 0u;
  u32 v_slot_9 = 0u;
  u32 v_slot_10 = 0u;
  u32 v_slot_11 = 0u;
  u32 v_slot_12 = 0u;
  u32 v_slot_13 = 0u;
  u32 v_slot_14 = 0u;
  u32 v_slot_15 = 0u;
  u32 v_slot_16 = 0u;
  u32 v_slot_17 = 0u;
  u32 v_slot_18 = 0u;
  u32 v_slot_19 = 0u;
  u32 v_slot_20 = 0u;
  u32 v_slot_21 = 0u;
  u32 v_slot_22 = 0u;
  u32 v_slot_23 = 0u;
  u32 v_slot_24 = 0u;
  u32 v_slot_25 = 0u;
  u32 v_slot_26 = 0u;
  u32 v_slot_27 = 0u;
  u32 v_slot_28 = 0u;
  u32 v_slot_29 = 0u;
  u32 v_slot_30 = 0u;
  u32 v_slot_31 = 0u;
  u32 stop_k = v_stop;
  for (u32 v_k = v_start; v_k < stop_k; v_k++) {
    u32 v_carry = b_a[v_k];
    u32 v_number = (v_k - v_start);
    u32 v_open = 1u;
    if (v_open != 0u) {
      if (((v_number >> 0u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot, v_carry);
      } else {
        v_slot = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 1u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_1, v_carry);
      } else {
        v_slot_1 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 2u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_2, v_carry);
      } else {
        v_slot_2 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 3u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_3, v_carry);
      } else {
        v_slot_3 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 4u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_4, v_carry);
      } else {
        v_slot_4 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 5u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_5, v_carry);
      } else {
        v_slot_5 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 6u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_6, v_carry);
      } else {
        v_slot_6 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 7u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_7, v_carry);
      } else {
        v_slot_7 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 8u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_8, v_carry);
      } else {
        v_slot_8 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 9u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_9, v_carry);
      } else {
        v_slot_9 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 10u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_10, v_carry);
      } else {
        v_slot_10 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 11u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_11, v_carry);
      } else {
        v_slot_11 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 12u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_12, v_carry);
      } else {
        v_slot_12 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 13u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_13, v_carry);
      } else {
        v_slot_13 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 14u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_14, v_carry);
      } else {
        v_slot_14 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 15u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_15, v_carry);
      } else {
        v_slot_15 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 16u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_16, v_carry);
      } else {
        v_slot_16 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 17u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_17, v_carry);
      } else {
        v_slot_17 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 18u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_18, v_carry);
      } else {
        v_slot_18 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 19u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_19, v_carry);
      } else {
        v_slot_19 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 20u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_20, v_carry);
      } else {
        v_slot_20 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 21u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_21, v_carry);
      } else {
        v_slot_21 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 22u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_22, v_carry);
      } else {
        v_slot_22 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 23u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_23, v_carry);
      } else {
        v_slot_23 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 24u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_24, v_carry);
      } else {
        v_slot_24 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 25u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_25, v_carry);
      } else {
        v_slot_25 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 26u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_26, v_carry);
      } else {
        v_slot_26 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 27u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_27, v_carry);
      } else {
        v_slot_27 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 28u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_28, v_carry);
      } else {
        v_slot_28 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 29u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_29, v_carry);
      } else {
        v_slot_29 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 30u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_30, v_carry);
      } else {
        v_slot_30 = v_carry;
        v_open = 0u;
      }
    }
    if (v_open != 0u) {
      if (((v_number >> 31u) & 1u) != 0u) {
        v_carry = native_f32_max(v_slot_31, v_carry);
      } else {
        v_slot_31 = v_carry;
        v_open = 0u;
      }
    }
  }
  u32 v_count = ((v_start < v_stop) ? (v_stop - v_start) : 0u);
  u32 v_total = 4286578688u;
  u32 v_some = 0u;
  if (((v_count >> 0u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot, v_total);
    } else {
      v_total = v_slot;
    }
    v_some = 1u;
  }
  if (((v_count >> 1u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_1, v_total);
    } else {
      v_total = v_slot_1;
    }
    v_some = 1u;
  }
  if (((v_count >> 2u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_2, v_total);
    } else {
      v_total = v_slot_2;
    }
    v_some = 1u;
  }
  if (((v_count >> 3u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_3, v_total);
    } else {
      v_total = v_slot_3;
    }
    v_some = 1u;
  }
  if (((v_count >> 4u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_4, v_total);
    } else {
      v_total = v_slot_4;
    }
    v_some = 1u;
  }
  if (((v_count >> 5u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_5, v_total);
    } else {
      v_total = v_slot_5;
    }
    v_some = 1u;
  }
  if (((v_count >> 6u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_6, v_total);
    } else {
      v_total = v_slot_6;
    }
    v_some = 1u;
  }
  if (((v_count >> 7u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_7, v_total);
    } else {
      v_total = v_slot_7;
    }
    v_some = 1u;
  }
  if (((v_count >> 8u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_8, v_total);
    } else {
      v_total = v_slot_8;
    }
    v_some = 1u;
  }
  if (((v_count >> 9u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_9, v_total);
    } else {
      v_total = v_slot_9;
    }
    v_some = 1u;
  }
  if (((v_count >> 10u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_10, v_total);
    } else {
      v_total = v_slot_10;
    }
    v_some = 1u;
  }
  if (((v_count >> 11u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_11, v_total);
    } else {
      v_total = v_slot_11;
    }
    v_some = 1u;
  }
  if (((v_count >> 12u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_12, v_total);
    } else {
      v_total = v_slot_12;
    }
    v_some = 1u;
  }
  if (((v_count >> 13u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_13, v_total);
    } else {
      v_total = v_slot_13;
    }
    v_some = 1u;
  }
  if (((v_count >> 14u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_14, v_total);
    } else {
      v_total = v_slot_14;
    }
    v_some = 1u;
  }
  if (((v_count >> 15u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_15, v_total);
    } else {
      v_total = v_slot_15;
    }
    v_some = 1u;
  }
  if (((v_count >> 16u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_16, v_total);
    } else {
      v_total = v_slot_16;
    }
    v_some = 1u;
  }
  if (((v_count >> 17u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_17, v_total);
    } else {
      v_total = v_slot_17;
    }
    v_some = 1u;
  }
  if (((v_count >> 18u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_18, v_total);
    } else {
      v_total = v_slot_18;
    }
    v_some = 1u;
  }
  if (((v_count >> 19u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_19, v_total);
    } else {
      v_total = v_slot_19;
    }
    v_some = 1u;
  }
  if (((v_count >> 20u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_20, v_total);
    } else {
      v_total = v_slot_20;
    }
    v_some = 1u;
  }
  if (((v_count >> 21u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_21, v_total);
    } else {
      v_total = v_slot_21;
    }
    v_some = 1u;
  }
  if (((v_count >> 22u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_22, v_total);
    } else {
      v_total = v_slot_22;
    }
    v_some = 1u;
  }
  if (((v_count >> 23u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_23, v_total);
    } else {
      v_total = v_slot_23;
    }
    v_some = 1u;
  }
  if (((v_count >> 24u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_24, v_total);
    } else {
      v_total = v_slot_24;
    }
    v_some = 1u;
  }
  if (((v_count >> 25u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_25, v_total);
    } else {
      v_total = v_slot_25;
    }
    v_some = 1u;
  }
  if (((v_count >> 26u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_26, v_total);
    } else {
      v_total = v_slot_26;
    }
    v_some = 1u;
  }
  if (((v_count >> 27u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_27, v_total);
    } else {
      v_total = v_slot_27;
    }
    v_some = 1u;
  }
  if (((v_count >> 28u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_28, v_total);
    } else {
      v_total = v_slot_28;
    }
    v_some = 1u;
  }
  if (((v_count >> 29u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_29, v_total);
    } else {
      v_total = v_slot_29;
    }
    v_some = 1u;
  }
  if (((v_count >> 30u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_30, v_total);
    } else {
      v_total = v_slot_30;
    }
    v_some = 1u;
  }
  if (((v_count >> 31u) & 1u) != 0u) {
    if (v_some != 0u) {
      v_total = native_f32_max(v_slot_31, v_total);
    } else {
      v_total = v_slot_31;
    }
    v_some = 1u;
  }
  store_1(b_out, len_out, invocation_x, ((((v_start < v_stop) ? (v_stop - v_start) : 0u) > 1u) ? soft_f32_canon(native_f32_mul(v_total, 1065353216u)) : ((v_start < v_stop) ? b_a[v_start] : 4286578688u)));
}
