"""Programs become flat code: registers for variables and temporaries, jumps for structure.

Operands are evaluated left to right, once for each place they stand in the tree (decision 1), so an
expression object used twice is compiled twice. Nothing here recurses: expressions and statements are
walked with explicit stacks. What a validator would reject is refused, never given a meaning.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

from vyre.errors import InterpreterError
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.limits import MAX_CALL_DEPTH, U32_MAX
from vyre.ir.types import DataType
from vyre.ir.typing import cast_source, is_condition, type_of
from vyre.reference import code as c
from vyre.reference.chosen import Guards, guarded
from vyre.reference.functions import fold_of, function_of
from vyre.reference.registers import Registers
from vyre.reference.subgroups import exchange_for
from vyre.reference.turns import leaving

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.compose.registry import Registry
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.op import Op
    from vyre.ir.program import Program
    from vyre.ir.signature import OpSignature
    from vyre.reference.trace import Tracer

MAX_CODE_NODES = 2_000_000
"""Nodes of an inlined program, counted as a tree, that the interpreter is willing to compile."""

_Value = tuple[int, DataType]


def compile_program(
    program: Program,
    lengths: Mapping[str, int],
    registry: Registry | None = None,
    tracer: Tracer | None = None,
) -> c.Code:
    """The code of a program; `lengths` are the buffers' element counts in this run. A tracer is told of
    every statement.

    Calls are executed here by binding arguments to fresh registers, independently of the inliner, so
    that the two can be compared.
    """
    if program.size > MAX_CODE_NODES:
        raise InterpreterError(
            f"the program has more than {MAX_CODE_NODES} nodes, the reference interpreter's limit.",
            fix="bind repeated subexpressions with Let instead of repeating them.",
        )
    return _Compiler(program, lengths, registry, tracer).compile()


def _move(value: int) -> int:
    return value


class _Compiler(Registers):
    def __init__(
        self,
        program: Program,
        lengths: Mapping[str, int],
        registry: Registry | None,
        tracer: Tracer | None = None,
    ) -> None:
        super().__init__()
        self.tracer = tracer
        self.program = program
        self.lengths = lengths
        self.registry = registry
        self.calls: list[str] = []
        self.slots: dict[str, int] = {}
        for slot, decl in enumerate(program.buffers):
            if self.slots.setdefault(decl.name, slot) != slot:
                raise InterpreterError(
                    f"two buffers are named {decl.name}.", fix="give every buffer its own name."
                )
        self.instructions: list[c.Instruction] = []
        self.ids: dict[tuple[str, int], int] = {}
        self.scope: dict[str, _Value] = {}
        self.outer: list[list[tuple[str, _Value | None]]] = []
        self.loops: list[tuple[int, int]] = []
        self.breaks: list[list[int]] = []
        self.tasks: list[Callable[[], None]] = []
        self.place = c.Place("entry")
        self.watched = True
        self.chosen: Guards = ()

    def compile(self) -> c.Code:
        self.tasks.append(partial(self.emit, c.Leave(None)))
        self.body(self.program.entry, "entry", None)
        while self.tasks:
            self.tasks.pop()()
        ids = (c.IdRegister(register, kind, axis) for (kind, axis), register in self.ids.items())
        return c.Code(tuple(self.instructions), tuple(self.registers), tuple(ids))

    # Statements. A statement that goes on after a nested body leaves that part as a task.

    def body(self, nodes: tuple[n.Node, ...], name: str, parent: c.Place | None) -> None:
        self.outer.append([])
        self.tasks.append(self.close_scope)
        for i in range(len(nodes) - 1, -1, -1):
            self.tasks.append(partial(self.statement, nodes[i], c.Place(f"{name}[{i}]", parent)))

    def close_scope(self) -> None:
        for name, hidden in reversed(self.outer.pop()):
            if hidden is None:
                del self.scope[name]
            else:
                self.scope[name] = hidden

    def bind(self, name: str, value: _Value) -> None:
        self.outer[-1].append((name, self.scope.get(name)))
        self.scope[name] = value

    def statement(self, node: n.Node, place: c.Place) -> None:
        self.place = place
        match node:
            case n.Let(name=name, value=value):
                register = self.new_register()
                _, kind = self.expression(value, into=register)
                self.bind(name, (register, kind))
                self.note("let", name, kind, register)
            case n.Assign(name=name, value=value):
                self.assign(name, value)
            case n.Store(buffer=buffer, index=index, value=value):
                self.store(buffer, index, value)
            case n.If():
                self.branch(node)
            case n.Loop():
                self.loop(node)
            case n.Break():
                if not self.breaks:
                    raise self.refusal("a break is not inside a loop")
                self.breaks[-1].append(self.reserve())
            case n.Return():
                self.emit(c.Leave(place))
            case n.Block(body=body):
                self.body(body, "body", place)
            case n.Barrier():
                self.emit(c.Meet(tuple(self.loops), place))
            case _:
                raise self.refusal(f"{node!r} is not a statement of the language")

    def assign(self, name: str, value: e.Expr) -> None:
        if name not in self.scope:
            raise self.refusal(f"the variable {name} is not declared here")
        register, kind = self.scope[name]
        if any(register == counter for counter, _ in self.loops):
            raise self.refusal(f"the loop variable {name} is assigned")
        _, given = self.expression(value, into=register)
        if given is not kind:
            raise self.refusal(f"a {given.value} is assigned to {name}, a {kind.value}")
        self.note("assign", name, kind, register)

    def store(self, name: str, index: e.Expr, value: e.Expr) -> None:
        decl = self.declared(name)
        index_register, index_type = self.expression(index)
        value_register, value_type = self.expression(value)
        if not decl.access.writable:
            raise self.refusal(f"the {decl.access.value} buffer {name} is stored to")
        if index_type is not DataType.U32 or value_type not in decl.element.stored:
            raise self.refusal(f"a {value_type.value} is stored to {name}[{index_type.value}]")
        self.emit(c.Write(self.slots[name], index_register, value_register, self.place))
        self.note("store", name, value_type, value_register, index_register)
        self.release(index_register)
        self.release(value_register)

    def branch(self, node: n.If) -> None:
        condition, kind = self.expression(node.condition)
        if not is_condition(kind):
            raise self.refusal(f"the condition is a {kind.value}")
        self.note("if", "", kind, condition)
        self.release(condition)
        at = self.reserve()
        place = self.place

        def after_then() -> None:
            skip = self.reserve() if node.orelse else None
            self.instructions[at] = c.JumpIfZero(condition, len(self.instructions))
            if skip is not None:
                self.tasks.append(partial(after_else, skip))
                self.body(node.orelse, "orelse", place)

        def after_else(skip: int) -> None:
            self.instructions[skip] = c.Jump(len(self.instructions))

        self.tasks.append(after_then)
        self.body(node.then, "then", place)

    def loop(self, node: n.Loop) -> None:
        start, stop, counter = self.new_register(), self.new_register(), self.new_register()
        for bound, register in ((node.start, start), (node.stop, stop)):
            _, kind = self.expression(bound, into=register)
            if kind is not DataType.U32:
                raise self.refusal(f"a bound of the loop is a {kind.value}")
        self.emit(c.Compute(counter, _move, (start,)))
        at = self.reserve()
        self.note("loop", node.var, DataType.U32, counter)
        place = self.place

        def after_body() -> None:
            self.emit(c.LoopNext(counter, stop, at + 1))
            if node.var.startswith(n.BOUNDED_TURN):
                self.spent(node, place)
            self.instructions[at] = c.LoopEnter(counter, stop, len(self.instructions))
            for jump in self.breaks.pop():
                self.instructions[jump] = c.Jump(len(self.instructions))
            self.loops.pop()

        self.tasks.append(after_body)
        self.loops.append((counter, start))
        self.breaks.append([])
        self.body(node.body, "body", self.place)
        self.bind(node.var, (counter, DataType.U32))

    def spent(self, node: n.Loop, place: c.Place) -> None:
        """Tells of a loop that took all its turns, unless its condition fails after the last of them.

        No program asks for the condition there, so what it reads is not watched.
        """
        asked = leaving(node)
        end = None
        if asked is not None:
            self.outer.append([])
            self.watched = False
            for let in asked[0]:
                self.bind(let.name, self.expression(let.value, into=self.new_register()))
            condition, _ = self.expression(asked[1])
            self.watched = True
            self.close_scope()
            self.release(condition)
            self.emit(c.JumpIfZero(condition, len(self.instructions) + 2))
            end = self.reserve()
        self.emit(c.Spent(place))
        if end is not None:
            self.instructions[end] = c.Jump(len(self.instructions))

    # Expressions.

    def expression(self, root: e.Expr, *, into: int | None = None) -> _Value:
        """Code that evaluates `root`; its value lies in `into`, or in the register that is returned."""
        values: list[_Value] = []
        stack: list[tuple[e.Expr, bool, Guards]] = [(root, False, ())]
        while stack:
            expr, ready, guards = stack.pop()
            if expr.children and not ready:
                stack.append((expr, True, guards))
                inner = zip(expr.children, guarded(expr, len(values)), strict=True)
                stack.extend((child, False, guards + more) for child, more in reversed(list(inner)))
                continue
            first = len(values) - len(expr.children)
            operands = tuple(register for register, _ in values[first:])
            types = tuple(kind for _, kind in values[first:])
            del values[first:]
            kind = type_of(expr, types, self)
            if kind is None:
                given = ", ".join(t.value for t in types) or "nothing"
                raise self.refusal(f"{expr!r} has no meaning over {given}")
            for register in operands:
                self.release(register)
            self.chosen = tuple((values[number][0], wanted) for number, wanted in guards)
            values.append((self.operation(expr, operands, types, None if stack else into), kind))
        register, kind = values[0]
        if into is not None and register != into:
            self.emit(c.Compute(into, _move, (register,)))
            register = into
        return register, kind

    def operation(
        self, expr: e.Expr, operands: tuple[int, ...], types: tuple[DataType, ...], into: int | None
    ) -> int:
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return self.constant(value & U32_MAX)
            case e.LitBool(value=value):
                return self.constant(int(value))
            case e.Literal(bits=bits):
                return self.constant(bits)
            case e.Var(name=name):
                return self.scope[name][0]
            case e.BufLen(buffer=buffer):
                self.declared(buffer)
                return self.constant(self.lengths[buffer])
            case e.InvocationId(axis=axis) | e.WorkgroupId(axis=axis) | e.LocalId(axis=axis):
                return self.identity(type(expr).__name__, axis)
            case e.Load(buffer=buffer):
                dest = self.destination(into)
                place = self.place if self.watched else None
                self.emit(c.Read(dest, self.slots[buffer], operands[0], place, self.chosen))
            case e.Atomic(op=op, buffer=buffer):
                if not self.declared(buffer).access.atomic:
                    raise self.refusal(f"the buffer {buffer} takes no atomics")
                dest = self.destination(into)
                expected = operands[2] if len(operands) == 3 else None
                index, value = operands[:2]
                self.emit(c.Update(dest, op, self.slots[buffer], index, value, expected, self.place))
            case e.Call(op_id=op_id):
                op = self.registry.get(op_id) if self.registry else None
                if op is None or not op.hardware:
                    return self.call(op_id, operands)
                dest = self.destination(into)
                self.emit(self.exchange(op, dest, operands))
            case e.FReduce(buffer=buffer) | e.FReduceApprox(buffer=buffer):
                dest = self.destination(into)
                start, stop = operands
                fold = fold_of(expr, self.declared(buffer).element)
                self.emit(c.Reduce(dest, fold, self.slots[buffer], start, stop, self.place))
            case _:
                if isinstance(expr, e.Cast):
                    types = (cast_source(expr, types[0], self.element),)
                dest = self.destination(into)
                self.emit(c.Compute(dest, function_of(expr, types), operands))
        return dest

    def call(self, op_id: str, operands: tuple[int, ...]) -> int:
        """Code of an op over these arguments, in a scope that holds nothing but its parameters."""
        op = self.registry.get(op_id) if self.registry else None
        if op is None or op.result is None:
            raise self.refusal(f"the op {op_id} has no body to run")
        if op_id in self.calls or len(self.calls) >= MAX_CALL_DEPTH:
            raise self.refusal(f"the call of {op_id} is recursive or deeper than {MAX_CALL_DEPTH}")
        caller = self.scope, self.outer, self.tasks, self.place, self.breaks
        params: dict[str, _Value] = {}
        for param, operand in zip(op.params, operands, strict=True):
            register = self.new_register()
            self.emit(c.Compute(register, _move, (operand,)))
            params[param.name] = (register, param.type)
        self.scope, self.outer, self.tasks, self.breaks = params, [[]], [], []
        self.calls.append(op_id)
        for node in op.body:
            self.statement(node, self.place)
            while self.tasks:
                self.tasks.pop()()
        result, _ = self.expression(op.result, into=self.new_register())
        self.calls.pop()
        self.scope, self.outer, self.tasks, self.place, self.breaks = caller
        return result

    def exchange(self, op: Op, dest: int, operands: tuple[int, ...]) -> c.Exchange:
        size = prod(self.program.workgroup_size)
        if size % op.lanes:
            raise self.refusal(f"a workgroup of {size} is not made of subgroups of {op.lanes}")
        return c.Exchange(dest, exchange_for(op), operands, op.lanes, tuple(self.loops), self.place)

    # The environment of `type_of`.

    def variable(self, name: str) -> DataType | None:
        return self.scope[name][1] if name in self.scope else None

    def element(self, buffer: str) -> DataType | None:
        return self.program.buffers[self.slots[buffer]].element if buffer in self.slots else None

    def signature(self, op_id: str) -> OpSignature | None:
        op = self.registry.get(op_id) if self.registry else None
        return op.signature if op else None

    # Registers and instructions.

    def declared(self, buffer: str) -> BufferDecl:
        if buffer not in self.slots:
            raise self.refusal(f"the buffer {buffer} is not declared")
        return self.program.buffers[self.slots[buffer]]

    def identity(self, kind: str, axis: int) -> int:
        if axis > 2:
            raise self.refusal(f"{kind} has no axis {axis}")
        if (kind, axis) not in self.ids:
            self.ids[kind, axis] = self.new_register()
        return self.ids[kind, axis]

    def emit(self, instruction: c.Instruction) -> None:
        if len(self.instructions) >= MAX_CODE_NODES:
            raise self.refusal(f"the program takes more than {MAX_CODE_NODES} instructions")
        self.instructions.append(instruction)

    def note(self, kind: str, name: str, type_: DataType, *registers: int) -> None:
        if self.tracer is not None:
            self.emit(c.Note(self.tracer.teller(kind, name, self.place, type_), registers))

    def reserve(self) -> int:
        """The position of an instruction that is known only later."""
        self.emit(c.Jump(-1))
        return len(self.instructions) - 1

    def refusal(self, message: str) -> InterpreterError:
        return InterpreterError(
            f"{message}.",
            fix="run vyre.validate.check on the program; it names every rule that is broken.",
            place=str(self.place),
        )
