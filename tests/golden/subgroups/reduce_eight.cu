refused: intrinsic.subgroup8.reduce_add
