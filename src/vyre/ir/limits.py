"""The limits that the validator, the text form and the wire form share.

One table, so that whatever validates can also be written and read (decision 22).
"""

from typing import Final

MAX_NODES: Final = 100_000
"""Expression and statement nodes of a program, counted before inlining (V019)."""

MAX_EXPR_DEPTH: Final = 1_024
"""Levels of one expression tree (V034)."""

MAX_NESTING: Final = 64
"""Levels of If, Loop and Block inside each other (V018)."""

MAX_CALL_DEPTH: Final = 32
"""Levels of ops that call ops (V017)."""

MAX_EXPANSION: Final = 1_000_000
"""Nodes that the calls of a program may expand to (V043)."""

MAX_NAME_LENGTH: Final = 128
"""Characters of a buffer or variable name (V032)."""

MAX_OP_ID_LENGTH: Final = 256
"""Characters of an op id."""

MAX_BUFFERS: Final = 256
"""Buffers of one program (V040)."""

MAX_UNIFORM_BYTES: Final = 64 * 1024
"""Bytes of one Uniform buffer (V033)."""

MAX_WORKGROUP_BYTES: Final = 64 * 1024 * 1024
"""Bytes of workgroup memory of one program (V035), also the reference interpreter's bound."""

MAX_PRIVATE_BYTES: Final = 8 * 1024
"""Bytes of private memory of one invocation, an element taking 4 at least (V048): what WGSL promises."""

MAX_CONSTANT_BYTES: Final = 60 * 1024
"""Bytes of the constant tables of one program (V050): with the hidden words they fit into one uniform."""

MAX_GRAPH_VALUES: Final = 100_000
"""Values of one graph of tensors, and its outputs (V060)."""

MAX_GRAPH_EXPRESSION: Final = 4_096
"""Nodes of one elementwise expression of a graph (V060); all of them together are bound by `MAX_NODES`."""

MAX_GRAPH_CONSTANT_BYTES: Final = 1 << 20
"""Bytes of one constant of a graph (V060); weights are inputs."""

MAX_RANK: Final = 8
"""Axes of one tensor (V060)."""

MAX_SIZE_TERMS: Final = 16
"""Terms of the size of one axis (V060); what a network needs has two or three."""

MAX_SIZE_DEGREE: Final = 8
"""Dynamic dimensions multiplied in one term of a size (V060)."""

MAX_WORKGROUP_INVOCATIONS: Final = 1_024
"""Invocations of one workgroup (V039)."""

MAX_GRID_INVOCATIONS: Final = 1 << 48
"""Invocations of one dispatch, over all axes of its grid."""

MAX_CALL_INPUT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one buffer that the reference interpreter accepts (decision 17)."""

U32_MAX: Final = 0xFFFF_FFFF
