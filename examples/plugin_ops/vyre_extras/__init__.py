"""Ops of one's own, a file each: what it computes, what that means, and what it promises.

    pip install ./examples/plugin_ops
    vyre laws extras.
    vyre certify cpu --ops extras.murmur3.mix --cases 1000

An op is written twice: for kernels, and over the steps of a domain, where it is computed, proved and compared
with what backends give. Neither is made from the other.
"""

from vyre_extras import edit, glob, murmur3, siphash

OPS = [murmur3.step.op, murmur3.mix.op, siphash.HALF, edit.DISTANCE, glob.MATCHES]
SPECS = [*murmur3.SPECS, siphash.SPEC, edit.SPEC, glob.SPEC]
