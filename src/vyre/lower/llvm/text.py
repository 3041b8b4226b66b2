"""Writing LLVM IR as text: unique names, basic blocks, instructions in order."""

from __future__ import annotations


class FunctionText:
    """The body of one function. `block` is the label of the block being written, and `called` takes the
    names of LLVM's own functions that it calls, which a module has to declare."""

    def __init__(self, called: set[str]) -> None:
        self._called = called
        self.lines: list[str] = ["entry:"]
        self.block = "entry"
        self._slots: list[str] = []
        self._nought = ""
        self._used: dict[str, int] = {"entry": 0}

    def unique(self, hint: str) -> str:
        """A name that this function has not used; values and labels share one name space."""
        count = self._used.get(hint)
        if count is None:
            self._used[hint] = 0
            return hint
        while True:
            count += 1
            name = f"{hint}.{count}"
            if name not in self._used:
                self._used[hint] = count
                self._used[name] = 0
                return name

    def reserve(self, names: list[str]) -> None:
        """Names that parameters hold."""
        self._used |= dict.fromkeys(names, 0)

    def intrinsic(self, name: str) -> str:
        """A function of LLVM's own, such as `@llvm.umin.i64`, about to be called."""
        self._called.add(name)
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def let(self, hint: str, instruction: str) -> str:
        name = f"%{self.unique(hint)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def slot(self, hint: str, kind: str = "i32") -> str:
        """A stack slot of one register, made once at the entry of the function."""
        name = f"%{self.unique(hint)}"
        self._slots.append(f"  {name} = alloca {kind}, align {8 if kind == 'double' else 4}")
        return name

    def hidden(self, value: str) -> str:
        """The same i32, combined with a zero that LLVM does not know."""
        if not self._nought:
            self._nought = f"%{self.unique('nought')}"
            self._slots.append(f'  {self._nought} = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)')
        return self.let("t", f"xor i32 {value}, {self._nought}")

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, *, note: str = "") -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{note}")

    def finish(self) -> list[str]:
        """All lines, the stack slots first."""
        return [self.lines[0], *self._slots, *self.lines[1:]]
