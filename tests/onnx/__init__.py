"""Models of the ONNX format: node tests that ship with its package, models of several nodes, mistakes."""
