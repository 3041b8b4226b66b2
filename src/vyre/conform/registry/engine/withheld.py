"""Why engines do not promise some of the eight invariants: each is promised, or there is a reason here."""

from __future__ import annotations

from vyre.conform.spec.invariant import EngineInvariant as Inv

NO_HISTORY = {
    Inv.AtomicLinearizable: "it has no atomics, or keeps nothing that they return; what it leaves is held "
    "against an oracle"
}
ONE_NUMBER = NO_HISTORY | {
    Inv.NoDuplicate: "its one item is a number, and another number is an item lost",
    Inv.Ordered: "one item has no order",
}
COUNTS = {
    Inv.NoOutputLost: "its items are additions, of which AtomicLinearizable asks that none is lost",
    Inv.NoDuplicate: "its items are additions, of which AtomicLinearizable asks that none counts twice",
    Inv.Ordered: "additions to a bin may come in any order",
}
TICKETS = {
    Inv.Deterministic: "the order within a key is the one that its atomics took",
    Inv.Ordered: "the order within a key is the one that its atomics took",
    Inv.WorkgroupInvariant: "the order within a key is the one that its atomics took",
}
GENERATED = NO_HISTORY | {
    Inv.Ordered: "every byte is an item that has its place in it",
    Inv.Termination: "its loops are the generator's; the stage `programs` has their bounds",
    Inv.WorkgroupInvariant: "a generated program may do what depends on its workgroups",
}
