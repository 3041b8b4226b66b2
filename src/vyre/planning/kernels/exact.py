"""Products of matrices whose sums are exact: every bit of every product is kept in words of private memory.

The words are one number in two's complement, whose lowest bit is worth 2^`lowest`; it is wide enough for 2^32
products of the largest numbers. At the end it is rounded once, to nearest even (decision 29).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, Lane, Literal, LitU32, MakeVec, Select, UnOp, Var, mul_hi
from vyre.ir.float_formats import FORMATS
from vyre.ir.node import Assign, Break, If, Let, Loop, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.products import LANES, product_node
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import plus

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.node import Node
    from vyre.planning.draft import Draft
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
ONE, ALL = LitU32(1), LitU32(0xFFFF_FFFF)
_CARRIES = 34
"""Bits above the largest product: 2^32 of them, and a sign."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """A number taken apart: `words` times 2^`place` times the least number of its format."""

    form: FloatFormat
    sign: Expr
    words: tuple[Expr, ...]
    place: Expr
    nan: Expr
    infinite: Expr
    zero: Expr


def exact_variants(site: Site) -> tuple[Variant, ...]:
    pull, node, of = site.pull(), product_node(site), site.type
    draft = pull.draft
    index = draft.invocation(LANES, of.count)
    with draft.where(index < draft.size(of.count)):
        place = Place(of.shape, None, index)
        value = exact_bits(site, pull, place)
        if node.element is T.F64:
            draft.store(draft.flat(place), value)
        else:
            site.close(pull, place, Cast(node.element, value), node.element)
    element = T.U64 if node.element is T.F64 else None
    drafted = site.finished(pull, LANES, element)
    return (Variant(drafted, ((of.count, LANES),), (), "an invocation an element, every bit kept"),)


def exact_bits(site: Site, pull: Pull, place: Place, *, again: bool = False) -> Expr:
    """The bits of the rounded sum at a place: U64 for F64, else U32.

    `again` says that an invocation may come here more than once, and that memory is not 0 any more.
    """
    draft, node = pull.draft, product_node(site)
    *batch, row, column = draft.coords(place)
    forms = [FORMATS[_seen(site.of(side).element)] for side in (node.left, node.right)]
    total = _Sum(draft, forms, FORMATS[node.element])
    if again:
        with draft.loop("w", LitU32(total.count)) as word:
            draft.emit(Store(total.words.name, word, LitU32(0)))
    with draft.loop("k", draft.size(site.of(node.left).shape[-1])) as k:
        a = _factor(site, pull, node.left, (*batch, row, k))
        b = _factor(site, pull, node.right, (*batch, k, column))
        if node.mask is None:
            total.add(a, b)
        else:
            with draft.where(pull.at(node.mask, *batch, row, k)):
                total.add(a, b)
    return total.rounded()


def _seen(element: DataType) -> DataType:
    """The format in which an operand is taken apart."""
    return T.F64 if element is T.F64 else T.F32


def _factor(site: Site, pull: Pull, name: str, coords: tuple[Expr, ...]) -> _Factor:
    of, draft = site.of(name), pull.draft
    form = FORMATS[_seen(of.element)]
    pull.raw = True
    value = pull.value(name, Place(of.shape, coords))
    pull.raw = False
    if form.type is T.F64:
        bits = Literal(T.U64, value.bits) if isinstance(value, Literal) else value
        low, high = draft.let(Lane(bits, 0)), draft.let(Lane(bits, 1))
    else:
        wide = value if of.element is T.F32 else Cast(T.F32, value)
        low, high = LitU32(0), draft.let(Cast(T.U32, wide))
    shift = form.fraction_bits % 32
    field = draft.let((high >> LitU32(shift)) & LitU32(form.exponent))
    top = draft.let(high & LitU32((1 << shift) - 1))
    special = draft.let(field.eq(form.exponent))
    fraction = draft.let(top | low)
    hidden = Select(field.ne(0) & (special ^ ONE), LitU32(1 << shift), LitU32(0))
    # Infinities and NaN add nothing: they are noted.
    kept = draft.let(Select(special, LitU32(0), ALL))
    words = (draft.let((top | hidden) & kept),)
    if form.type is T.F64:
        words = (draft.let(low & kept), *words)
    return _Factor(
        form,
        sign=draft.let(high >> LitU32(31)),
        words=words,
        place=draft.let(Select(field.eq(0), LitU32(0), field - ONE)),
        nan=draft.let(special & fraction.ne(0)),
        infinite=draft.let(special & fraction.eq(0)),
        zero=draft.let((field | fraction).eq(0)),
    )


class _Sum:
    """The words of the sum, and what was seen that is not a number."""

    def __init__(self, draft: Draft, forms: list[FloatFormat], result: FloatFormat) -> None:
        self.draft, self.result = draft, result
        below = sum(form.min_exponent for form in forms)
        self.lowest = min(below, result.min_exponent)
        self.shift = below - self.lowest
        bits = sum(form.max_exponent + 1 for form in forms) - self.lowest + _CARRIES
        self.count = -(-bits // 32)
        self.words = draft.own(BufferDecl.private("sum", T.U32, self.count))
        self.nan = draft.variable(LitU32(0), "nan")
        self.infinities = [draft.variable(LitU32(0), hint) for hint in ("up", "down")]

    def add(self, a: _Factor, b: _Factor) -> None:
        let = self.draft.let
        sign = let(a.sign ^ b.sign)
        infinite = let(a.infinite | b.infinite)
        invalid = a.nan | b.nan | (a.infinite & b.zero) | (b.infinite & a.zero)
        up, down = self.infinities
        self.draft.emit(
            Assign(self.nan.name, self.nan | invalid),
            Assign(up.name, up | (infinite & (sign ^ ONE))),
            Assign(down.name, down | (infinite & sign)),
        )
        place = let(plus(a.place + b.place, LitU32(self.shift)))
        self._accumulate(self._product(a.words, b.words), place, sign)

    def _product(self, a: tuple[Expr, ...], b: tuple[Expr, ...]) -> list[Expr]:
        """The words of the product of two numbers, the lowest first."""
        let = self.draft.let
        words: list[Expr] = [LitU32(0)] * (len(a) + len(b))
        for i, x in enumerate(a):
            carry: Expr = LitU32(0)
            for j, y in enumerate(b):
                low, high = let(x * y), let(mul_hi(x, y))
                first = let(low + words[i + j])
                second = let(first + carry)
                words[i + j] = second
                # The high word of a product is at most 2^32 - 2, so both carries fit into it.
                carry = let(high + (first < low) + (second < first))
            words[i + len(b)] = carry
        return words

    def _accumulate(self, product: list[Expr], place: Expr, sign: Expr) -> None:
        """Adds the words, shifted to their place, or their complement with a carry where `sign` is 1."""
        draft, let = self.draft, self.draft.let
        first, turn = let(place >> LitU32(5)), let(place & LitU32(31))
        mask = let(LitU32(0) - sign)
        carry: Expr = sign
        for k in range(len(product) + 1):
            here = product[k] << turn if k < len(product) else LitU32(0)
            below = (product[k - 1] >> ONE) >> (LitU32(31) - turn) if k else LitU32(0)
            part = let((here | below) ^ mask)
            index = let(plus(first, LitU32(k)))
            carry = self._step(index, part, carry)
        rest, index = draft.variable(carry, "carry"), Var(draft.fresh("w"))
        with draft.block() as body:
            # What lies above is 0, or all ones with a carry: nothing changes any more.
            draft.emit(If(rest.eq(sign), [Break()]))
            draft.emit(Assign(rest.name, self._step(index, mask, rest)))
        start = let(plus(first, LitU32(len(product) + 1)))
        draft.emit(Loop(index.name, start, LitU32(self.count), body))

    def _step(self, index: Expr, part: Expr, carry: Expr) -> Expr:
        """Adds to one word; gives the carry out of it."""
        draft = self.draft
        before = draft.variable(self.words[index], "before")
        once = draft.variable(before + part, "once")
        twice = draft.variable(once + carry, "twice")
        draft.emit(Store(self.words.name, index, twice))
        return draft.variable((once < before) | (twice < once), "carry")

    def rounded(self) -> Expr:
        """The bits of the sum in the format of the result: U64 for F64, else U32."""
        draft, form = self.draft, self.result
        sign = draft.variable(self.words[LitU32(self.count - 1)] >> LitU32(31), "sign")
        self._made_positive(sign)
        top = self._top()
        word = draft.variable(self.words[top], "word")
        lead = draft.variable(top * LitU32(32) + LitU32(31) - UnOp(UnaryOp.Clz, word), "lead")
        least = LitU32(form.min_exponent - self.lowest)
        cut = draft.variable(lead - LitU32(form.precision - 1), "cut")
        # A sum of 0 has no leading bit; below the least exponent all bits down to it count.
        small = word.eq(0) | (lead < LitU32(form.precision - 1)) | (cut < least)
        cut = draft.variable(Select(small, least, cut), "cut")
        low, high = (draft.variable(self._word_at(cut + LitU32(32 * k)), "m") for k in range(2))
        up = draft.variable(self._half(cut) & (self._below(cut) | (low & ONE)), "up")
        sum_low = draft.variable(low + up, "m")
        sum_high = draft.variable(high + (sum_low < low), "m")
        scale = draft.variable(cut - least, "scale")
        shift = form.fraction_bits % 32
        if form.type is T.F64:
            bits_high = draft.variable(sum_high + (scale << LitU32(shift)), "bits")
        else:
            bits_high = draft.variable(sum_low + (scale << LitU32(shift)), "bits")
        infinity = form.infinity >> (32 if form.type is T.F64 else 0)
        over = draft.variable((scale >= LitU32(form.exponent)) | (bits_high >= LitU32(infinity)), "over")
        return self._chosen(sign, sum_low, bits_high, over, infinity)

    def _chosen(self, sign: Expr, low: Expr, high: Expr, over: Expr, infinity: int) -> Expr:
        """The rounded number, or what overrules it."""
        draft, form = self.draft, self.result
        wide = form.type is T.F64
        up, down = self.infinities
        infinite = draft.variable(up | down, "infinite")
        nan = draft.variable(self.nan | (up & down), "isnan")
        negative = Select(infinite.ne(0), down, sign)
        word = Select(over | infinite, LitU32(infinity), high)
        signed = word | (negative << LitU32(form.sign_shift % 32))
        top = draft.variable(Select(nan.ne(0), LitU32(form.nan >> (32 if wide else 0)), signed), "top")
        if not wide:
            return top
        return MakeVec(T.U64, (Select(over | infinite | nan, LitU32(0), low), top))

    def _made_positive(self, sign: Expr) -> None:
        draft, index = self.draft, Var(self.draft.fresh("w"))
        carry, word, next_carry = draft.variable(ONE, "carry"), Var(draft.fresh("x")), Var(draft.fresh("c"))
        body: list[Node] = [
            Let(word.name, ~self.words[index] + carry),
            Let(next_carry.name, carry & word.eq(0)),
            Store(self.words.name, index, word),
            Assign(carry.name, next_carry),
        ]
        draft.emit(If(sign.ne(0), [Loop(index.name, LitU32(0), LitU32(self.count), body)]))

    def _top(self) -> Var:
        """The highest word that is not 0; word 0 where all are."""
        draft, index = self.draft, Var(self.draft.fresh("w"))
        top = draft.variable(LitU32(0), "top")
        draft.emit(
            Loop(
                index.name,
                LitU32(0),
                LitU32(self.count),
                [If(self.words[index].ne(0), [Assign(top.name, index)])],
            )
        )
        return top

    def _word_at(self, place: Expr) -> Expr:
        """32 bits from a place on; beyond the last word there are zeros."""
        first, turn = place >> LitU32(5), place & LitU32(31)
        above = (self.words[first + ONE] << ONE) << (LitU32(31) - turn)
        return (self.words[first] >> turn) | above

    def _half(self, cut: Expr) -> Expr:
        """The bit below `cut`, 0 where there is none."""
        place = cut - ONE
        return Select(cut.eq(0), LitU32(0), (self.words[place >> LitU32(5)] >> (place & LitU32(31))) & ONE)

    def _below(self, cut: Expr) -> Expr:
        """Whether a bit below the one below `cut` is set."""
        draft, index = self.draft, Var(self.draft.fresh("w"))
        sticky = draft.variable(LitU32(0), "sticky")
        last = draft.variable(Select(cut.eq(0), LitU32(0), cut - ONE), "last")
        word = draft.variable(last >> LitU32(5), "word")
        part = self.words[word] & ((ONE << (last & LitU32(31))) - ONE)
        draft.emit(
            Loop(index.name, LitU32(0), word, [Assign(sticky.name, sticky | self.words[index])]),
            Assign(sticky.name, sticky | part),
        )
        return sticky.ne(0)
