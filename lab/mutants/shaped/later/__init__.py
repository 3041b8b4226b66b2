"""Shaped mutants of this house of kinds that no other set has, written after the unseen set had been run."""

from __future__ import annotations

from lab.mutants.shaped.fault import ShapedMutant
from lab.mutants.shaped.later import faults_in_layouts, faults_in_memories, faults_in_turns
from lab.mutants.shaped.trigger import when

LATER = {
    fault.name: fault
    for family in (faults_in_memories, faults_in_layouts, faults_in_turns)
    for fault in family.faults()
}

_TABLE = {
    "grid of the run before": ("run >= 2",),
    "length of the run before": ("run >= 2",),
    "first input of the run before": ("run >= 2", "launch >= 2"),
    "last input of the run before": ("run >= 2", "launch >= 2"),
    "last output of the run before": ("run >= 2", "launch >= 2"),
    "inputs of the first run for ever": ("run >= 2", "launch >= 2", "run >= 2 and element type = I16"),
    "inputs of the run before where their first words are equal": ("run >= 2",),
    "uniforms of the first run for ever": ("run >= 2", "run >= 2 and workgroup x odd"),
    "results of the other of two threads": ("threads >= 2", "threads >= 2 and barriers >= 1"),
    "inputs of equal size rotated": ("buffers >= 8", "buffers >= 9 and workgroup x = 2"),
    "outputs of equal size rotated": ("buffers >= 8",),
    "last input read behind the one before": ("buffers >= 6",),
    "outputs of equal size share memory": ("buffers >= 9",),
    "an output past its middle is moved a word": ("output elements >= 64", "output fit = long"),
    "odd words of an input exchanged with even ones": ("buffer elements >= 31",),
    "lengths of inputs exchanged": ("buffers >= 6", "buffers >= 9"),
    "length of an input counts bytes": ("element type = U16", "loop bound = length"),
    "table turned by an element": ("table bytes >= 17",),
    "workgroup memory of the workgroup before": ("grid x >= 3", "grid y >= 2", "workgroup bytes >= 13"),
    "workgroup memory past its middle is its start": ("workgroup bytes >= 500",),
    "private memory of odd lanes that of even ones": ("private bytes >= 8",),
    "uniform of four words a word": ("uniform bytes >= 20",),
    "ids of a row counted from its end": ("workgroup y >= 3", "workgroup z >= 2"),
    "workgroups numbered from the last": ("grid y >= 3", "grid z >= 2"),
    "linear id of two axes alone": ("workgroup z >= 3", "grid z >= 3"),
    "bound read again in every turn": ("loop turns >= 3", "loop nesting >= 2"),
    "both sides of a branch run": ("branch nesting >= 3", "branch = divergent"),
    "break leaves the loop around it too": ("break = nested",),
    "return only leaves the loop": ("return = in a loop",),
    "statements behind a loop run in it": ("loop nesting >= 3",),
    "stores of a loop only in its last turn": ("loop turns >= 2", "loads after stores >= 1"),
    "a load gives what it gave before a store": ("loads after stores >= 2",),
    "last of several stores of a place lost": ("loads after stores >= 4",),
    "variables past 31 share a place": ("variables >= 32",),
    "assignment in a branch lost behind it": ("branch nesting >= 2",),
    "barrier and what follows it exchanged": ("barriers >= 2", "barrier nesting >= 1"),
    "reduction starts at its first element": ("reduction length >= 3",),
    "reduction in halves": ("reduction length >= 33",),
    "loops of one depth share a variable": ("loop nesting >= 2",),
    "turns of the loop around counted inside": ("loop nesting >= 4", "loop nesting >= 8"),
}


def later() -> list[ShapedMutant]:
    return [
        ShapedMutant(LATER[name], when(*trigger.split(" and ")))
        for name, triggers in _TABLE.items()
        for trigger in triggers
    ]
