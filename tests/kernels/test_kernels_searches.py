"""Loops that end when they are done: a stack machine, a trial division, a binary search."""

from __future__ import annotations

import bisect
import math

import numpy as np

import vyre
from vyre import In, Out, Private, u32

PUSH, ADD, MUL, DUP, SUB, JUMP_IF, SWAP, HALT = range(8)
# On [product, n]: the product with every number from n down to 1.
FACTORIAL = np.array(
    [SWAP, 0, DUP, 2, MUL, 0, SWAP, 0, PUSH, 1, SUB, 0, DUP, 1, JUMP_IF, 0, HALT, 0], np.uint32
)


def push(stack: Private[u32], depth: u32, value: u32) -> u32:
    stack[depth] = value
    return depth + 1


@vyre.kernel
def machine(x: In[u32], out: Out[u32], turns: Out[u32]) -> None:
    stack = vyre.private(u32, 16)
    i = vyre.invocation_id(0)
    depth = push(stack, u32(0), u32(1))
    depth = push(stack, depth, x[i])
    at, turn = u32(0), u32(0)
    while vyre.bounded(at < len(FACTORIAL), 200):
        code, given = FACTORIAL[at], FACTORIAL[at + 1]
        at += 2
        turn += 1
        if code == HALT:
            break
        if code == PUSH:
            depth = push(stack, depth, given)
            continue
        if code == DUP:
            depth = push(stack, depth, stack[depth - given])
            continue
        if code == SWAP:
            stack[depth - 1], stack[depth - 2] = stack[depth - 2], stack[depth - 1]
            continue
        if code == JUMP_IF:
            depth -= 1
            if stack[depth] > 0:
                at = given
            continue
        depth -= 1
        if code == ADD:
            stack[depth - 1] += stack[depth]
        elif code == SUB:
            stack[depth - 1] -= stack[depth]
        else:
            stack[depth - 1] *= stack[depth]
    out[i] = stack[0]
    turns[i] = turn


def test_a_stack_machine(backend: str) -> None:
    x = np.array([1, 2, 3, 5, 12, 13], np.uint32)
    out, turns = machine(x, backend=backend)
    assert out.tolist() == [math.factorial(n) % 2**32 for n in x.tolist()]
    assert turns.tolist() == (8 * x + 1).tolist()


@vyre.kernel
def smallest_factor(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    found = x[i]
    for k in range(2, 1000):
        if k * k > x[i]:
            break
        if x[i] % k == 0:
            found = u32(k)
            break
    out[i] = found


def test_a_trial_division_that_breaks(backend: str) -> None:
    x = np.array([1, 2, 9, 35, 97, 221, 7919, 999 * 997], np.uint32)
    expected = [next((k for k in range(2, n) if n % k == 0), n) for n in x.tolist()]
    assert smallest_factor(x, backend=backend).tolist() == expected


@vyre.kernel
def position(table: In[u32], x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    low, high = u32(0), u32(len(table))
    while vyre.bounded(low < high, 32):
        middle = low + (high - low) // 2
        if table[middle] < x[i]:
            low = middle + 1
        else:
            high = middle
    out[i] = low


def test_a_binary_search(backend: str) -> None:
    table = np.sort(np.random.default_rng(2).integers(0, 1000, 77)).astype(np.uint32)
    x = np.array([0, 1, 500, 999, 1000, int(table[5]), int(table[76])], np.uint32)
    found = position(table, x, out=7, backend=backend)
    assert found.tolist() == [bisect.bisect_left(table.tolist(), n) for n in x.tolist()]
