refused: FMul on F64
