"""`@vyre.kernel`: decorated functions that are programs.

The translator is loaded by the first kernel that no earlier process has translated (`kept.py`)."""

from __future__ import annotations

import sys
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, NoReturn, overload

from vyre.errors import (
    DispatchError,
    KernelError,
    SourceLocation,
    VyreError,
    boundary,
    hide_own_frames,
)
from vyre.frontend.binder import Binder
from vyre.frontend.collector import resting
from vyre.frontend.kept import find, keep
from vyre.frontend.warned import warnings_given
from vyre.frontend.watched import check_first, checked, checks_calls, traced, warn_of_hazards

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.backends.dispatch import Compiled
    from vyre.backends.protocol import Backend
    from vyre.compose.registry import Registry
    from vyre.frontend.kept import KeptKernel
    from vyre.frontend.signature import Parameter
    from vyre.frontend.translation import Bound, Takes, Translation
    from vyre.ir.program import Program
    from vyre.watch.checking import CheckReport
    from vyre.watch.tracing import KernelTrace

_NAMES = ("__module__", "__name__", "__qualname__", "__doc__")


class Kernel:
    """A Python function as a GPU program; calling it runs it on arrays."""

    def __init__(self, function: Any, workgroup_size: tuple[int, int, int], outer: Mapping[str, Any]) -> None:
        update_wrapper(self, function)
        kept = find(function, workgroup_size, outer)
        if kept is not None and kept.takes is not None:
            self._begin(kept.takes, kept=kept)
            return
        from vyre.frontend.arguments import takes_of
        from vyre.frontend.functions import translate_kernel

        before = warnings_given()
        translation = translate_kernel(function, workgroup_size, outer)
        self._begin(takes_of(translation), translation)
        self._validate()
        if warnings_given() == before:
            self._to_keep = kept

    def _begin(
        self, takes: Takes, translation: Translation | None = None, kept: KeptKernel | None = None
    ) -> None:
        self._takes = takes
        self._translated = translation
        self._kept = kept
        self._to_keep: KeptKernel | None = None
        self._bind = Binder(self.__name__, takes, lambda: self._translation)
        self._compiled: dict[str, Compiled] = {}
        self._shorts: dict[tuple[str, int], Any] = {}

    @property
    def _translation(self) -> Translation:
        if self._translated is None:
            assert self._kept is not None
            self._translated = self._kept.translation()
        return self._translated

    def _validate(self) -> None:
        from vyre.validate import check

        check(self.source_program, registry=self._looked_up)
        warn_of_hazards(self.source_program, self.__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        """By value, so that it needs no module and no source where it is read: the function stays behind."""
        names = {name: getattr(self, name, None) for name in _NAMES}
        return _restored, (self._translation, names)

    def __repr__(self) -> str:
        shown = (
            f"{p.name}: {p.role.value}[{p.element.value}]" if p.role else f"{p.name}: {p.element.value}"
            for p in self._translation.parameters
        )
        return f"<vyre.kernel {self.__name__}({', '.join(shown)})>"

    __name__: str

    @boundary
    def __getitem__(self, launch: Any) -> NoReturn:
        raise DispatchError(
            f"kernels are not launched as {self.__name__}[…](…): the workgroup size belongs to the kernel.",
            fix=f"write {self.__name__}(…, workgroups=n).",
        )

    @property
    def source_program(self) -> Program:
        """The program as written, with calls; `registry` knows every op it calls."""
        return self._translation.program

    @cached_property
    def registry(self) -> Registry:
        """The default registry and the ops that only this kernel knows."""
        from vyre.compose.registry import default_registry

        ops = self._translation.ops
        return default_registry().extend(ops) if ops else default_registry()

    @property
    def _looked_up(self) -> Registry | None:
        """None, which is the default one, for a kernel without ops of its own; it is opened by a call."""
        return self.registry if self._translation.ops else None

    @cached_property
    @boundary
    def program(self) -> Program:
        """The program whole in itself: it calls nothing that the default registry lacks."""
        from vyre.compose.inline import inline
        from vyre.ir.expr import Call
        from vyre.ir.walk import expressions

        own = {op.id for op in self._translation.ops}
        calls = (e.op_id for e in expressions(self.source_program.entry) if isinstance(e, Call))
        return inline(self.source_program, self.registry) if own & set(calls) else self.source_program

    @property
    def told(self) -> Mapping[str, Mapping[str, Any]]:
        """By buffer of the program: the names of its scalars, the declared shape; for an export."""
        from vyre.frontend.exported import told

        return told(self.__name__, self._translation)

    @property
    def parameters(self) -> Sequence[Parameter]:
        """Those that a call gives arguments for."""
        from vyre.frontend.arguments import visible_parameters

        return visible_parameters(self._translation)

    @boundary
    def bound(self, named: Mapping[str, Any], workgroups: Sequence[int] | None = None) -> Bound:
        """A call by these arguments, bound and not run, for a tool that runs the program itself. An InOut may
        be left out, or be a length, as an Out may."""
        from vyre.frontend.arguments import bind_arguments, outputs_left_out

        translation = outputs_left_out(self._translation, named)
        return bind_arguments(self.__name__, translation, (), named, workgroups)

    def __call__(
        self,
        *arrays: Any,
        workgroups: int | Sequence[int] | None = None,
        backend: str | Backend | None = None,
        copy: bool = False,
        step_limit: int | None = None,
        **named: Any,
    ) -> Any:
        """Runs the kernel and gives its Out and InOut arrays: one array, or a tuple in order.

        Arguments are bound as in Python. An Out may be left out, so that those after it go by name, or be
        given as a length; it starts as zeros either way. Out and InOut arrays that are passed are written and
        given back, the very objects; with `copy` they are left alone, and the results are new. `step_limit`
        ends a run whose loops take too many turns, as in `vyre.dispatch`.
        """
        try:
            if checks_calls():
                check_first(self._run, self._bind, self.__name__, arrays, workgroups, named)
            plain = workgroups is step_limit is None and not (copy or named)
            if not plain or not (backend is None or type(backend) is str):
                return self._run(
                    *arrays, workgroups=workgroups, backend=backend, copy=copy, step_limit=step_limit, **named
                )
            name = backend
            if name is None:
                from vyre.backends.chosen import default_name

                name = default_name()
            key = (name, len(arrays))
            short = self._shorts.get(key)
            if short is not None:
                found = short(arrays)
                if found is not None:
                    return found
            result = self._run(*arrays, backend=backend)
            if key not in self._shorts:
                self._shorts[key] = self._short(*key)
            return result
        except VyreError as error:
            hide_own_frames(error)
            raise

    def _short(self, backend: str, given: int) -> Any:
        """The short way of calls by so many arguments and nothing else; None where there is none."""
        lengths = self._bind.lengths(given)
        if lengths is None:
            return None
        return self._compile(backend).short(self._takes.names, given, lengths, self._takes.outs)

    def _run(
        self,
        *arrays: Any,
        workgroups: int | Sequence[int] | None = None,
        backend: str | Backend | None = None,
        copy: bool = False,
        step_limit: int | None = None,
        **named: Any,
    ) -> Any:
        bound = self._bind(arrays, named, workgroups)
        results = self._compile(backend).call(
            bound.buffers,
            workgroups=bound.workgroups,
            copy=copy,
            lengths=bound.lengths,
            zeroed=self._takes.outs,
            step_limit=step_limit,
        )
        if self._takes.prints:
            from vyre.frontend.printing import printed

            prints = self._translation.prints
            assert prints is not None
            for line in printed(prints, results.pop(prints.buffer)):
                print(line)
        if bound.shapes:
            from vyre.frontend.shapes import shaped

            for name, shape in bound.shapes.items():
                results[name] = shaped(results[name], shape)
        if len(results) == 1:
            return results.popitem()[1]
        return tuple([results[name] for name in self._takes.names if name in results])

    @boundary
    def check(
        self,
        *arrays: Any,
        workgroups: int | Sequence[int] | None = None,
        step_budget: int | None = None,
        **named: Any,
    ) -> CheckReport:
        """Runs the call in the reference interpreter and reports races, reads of workgroup memory that
        nothing wrote, divergent barriers and accesses out of bounds, with their source lines. Nothing that
        is passed is changed."""
        return checked(self._run, self._bind, self.__name__, arrays, workgroups, named, step_budget)

    @boundary
    def trace(
        self,
        *arrays: Any,
        invocation: int | Sequence[int] = 0,
        workgroups: int | Sequence[int] | None = None,
        steps: int = 1000,
        **named: Any,
    ) -> KernelTrace:
        """Runs the call in the reference interpreter and gives what each statement of one invocation made,
        the first `steps` of them. Nothing is changed."""
        return traced(self._run, self.__name__, arrays, workgroups, named, invocation, steps)

    def _compile(self, backend: str | Backend | None) -> Compiled:
        if backend is None or isinstance(backend, str):
            from vyre.backends.chosen import default_name

            name = backend or default_name()
            found = self._compiled.get(name)
            if found is None:
                self._compiled[name] = found = self._compiled_anew(backend)
            return found
        return self._compiled_anew(backend)

    def _compiled_anew(self, backend: str | Backend | None) -> Compiled:
        if backend is None and self._kept is not None:
            ready = self._kept.compiled(lambda: self._translation, lambda: self._looked_up)
            if ready is not None:
                return ready
        with resting(last=True):
            from vyre.backends.dispatch import recently_compiled

            made = recently_compiled(self.source_program, backend, self._looked_up)
        if backend is None and self._to_keep is not None:
            keep(self._to_keep, self._translation, self._takes, made)
            self._to_keep = None
        return made


def _restored(translation: Translation, names: Mapping[str, Any]) -> Kernel:
    from vyre.frontend.arguments import takes_of

    kernel = Kernel.__new__(Kernel)
    for name, value in names.items():
        setattr(kernel, name, value)
    kernel._begin(takes_of(translation), translation)
    return kernel


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(*, workgroup_size: int | Sequence[int] = 64) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(function: Any = None, /, *, workgroup_size: int | Sequence[int] = 64) -> Any:
    """Makes a kernel of a function whose parameters are annotated with In, Out, InOut, Uniform or a scalar.

    The function's source is translated when it is decorated; what has no meaning in a kernel raises
    `KernelError` at that line. `workgroup_size` is one to three numbers.
    """
    outer = outer_names()

    @boundary
    def decorate(decorated: Any) -> Kernel:
        with resting():
            return Kernel(decorated, size, outer)

    try:
        size = _size_of(workgroup_size)
        if function is not None and not callable(function):
            _refuse_place(function)
        return decorate(function) if function is not None else decorate
    except VyreError as error:
        hide_own_frames(error)
        raise


def outer_names() -> Mapping[str, Any]:
    """The caller's locals: annotations under `from __future__ import annotations` are in no closure."""
    frame = sys._getframe(2)
    return dict(frame.f_locals) if frame.f_locals is not frame.f_globals else {}


def _refuse_place(given: Any) -> NoReturn:
    frame = sys._getframe(2)
    raise KernelError(
        f"@vyre.kernel got {given!r} where it takes a function.",
        fix=f"write @vyre.kernel(workgroup_size={given!r}).",
        location=SourceLocation(frame.f_code.co_filename, frame.f_lineno, 1),
    )


def _size_of(workgroup_size: Any) -> tuple[int, int, int]:
    given: tuple[Any, ...]
    try:
        given = tuple(workgroup_size)
    except TypeError:
        given = (workgroup_size,)
    if not 1 <= len(given) <= 3 or not all(type(n) is int and n > 0 for n in given):
        frame = sys._getframe(2)
        raise KernelError(
            f"{workgroup_size!r} is not a workgroup size.",
            fix="write one to three positive numbers, such as workgroup_size=64 or (8, 8).",
            location=SourceLocation(frame.f_code.co_filename, frame.f_lineno, 1),
        )
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z
