refused: intrinsic.subgroup32.ballot
