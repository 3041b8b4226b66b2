"""Kernels that divide wide integers and compute with a modulus, against Python's integers."""

from __future__ import annotations

import math

import numpy as np

import vyre
from vyre import In, Out, u32, u64, u128


@vyre.kernel
def divided(a: In[u64], b: In[u64], quotient: Out[u64], rest: Out[u64], product: Out[u64]) -> None:
    i = vyre.invocation_id(0)
    quotient[i] = a[i] // b[i]
    rest[i] = a[i] % b[i]
    product[i] = u64((u128(a[i]) * u128(b[i]) // 1000) % u128(b[i]))


def test_wide_integers_divide() -> None:
    a, b = np.array([2**63 + 12345, 7, 5], np.uint64), np.array([2**33 + 1, 0, 7], np.uint64)
    quotient, rest, product = divided(a, b)
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert quotient.tolist() == [x // y if y else 0 for x, y in pairs]
    assert rest.tolist() == [x % y if y else 0 for x, y in pairs]
    assert product.tolist() == [x * y // 1000 % y if y else 0 for x, y in pairs]


@vyre.kernel
def modular(a: In[u32], b: In[u32], common: Out[u32], power: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    common[i] = vyre.call("integer.gcd", a[i], b[i])
    power[i] = vyre.call("integer.pow_mod", a[i], b[i], 4294967291)


def test_common_divisors_and_powers() -> None:
    a, b = (
        np.array([1836311903, 48, 0, 4294967295], np.uint32),
        np.array([2971215073, 180, 9, 65535], np.uint32),
    )
    common, power = modular(a, b)
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert common.tolist() == [math.gcd(x, y) for x, y in pairs]
    assert power.tolist() == [pow(x, y, 4294967291) for x, y in pairs]
