"""From a kernel's typed statements to LLVM's, the short way: arithmetic, elements of arrays, loops.

Numba looks for the rule of every `a + b` and `values[k]` among all it has, and lays every array out
in memory to read one field of it. Kernels are made of little else. What is written here is what
its rules write (`tests/compiling/test_lowering.py` compares results bit by bit); all else is left
to them.
"""

# Numba has no types of its own.
# mypy: disable-error-code="no-untyped-call,untyped-decorator,misc,attr-defined,arg-type"

from __future__ import annotations

import operator
from typing import Any

from llvmlite.ir import Constant, IntType
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np.arrayobj import load_item, store_item

from prefpath.compiling.references import Reference, read_field
from prefpath.compiling.typing import NUMBERS

# What passes of Numba's look for that no kernel has: closures, comprehensions, sums of whole
# arrays, functions that ask to be inlined. Each walks over all statements, most of them twice.
_WITHOUT = {"InlineClosureLikes", "InlineOverloads", "NopythonRewrites"}
_WORD = IntType(64)
_OF_FLOATS = {
    operator.add: "fadd",
    operator.sub: "fsub",
    operator.mul: "fmul",
    operator.truediv: "fdiv",
}
_OF_INTEGERS = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
_COMPARED = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def shortened(pipeline: Any) -> Any:
    """The same passes without those that find nothing in a kernel, lowering the short way."""
    short = PassManager(pipeline.pipeline_name)
    for each, words in pipeline.passes:
        if each.__name__ not in _WITHOUT:
            short.add_pass(KernelLowering if each is NativeLowering else each, words)
    short.finalize()
    return short


class KernelLower(Lower):
    """Lowers what kernels are made of; what is not known here, Numba does."""

    def init(self) -> None:
        super().init()
        self._ranges: dict[str, tuple[Any, Any]] = {}
        self._counted: dict[str, bool] = {}
        self._exact = not self.context.enable_boundscheck
        self._numpy = self.context.error_model.__class__.__name__ == "NumpyErrorModel"

    def lower_inst(self, inst: Any) -> None:
        kind = type(inst)
        if kind is ir.Assign and not isinstance(inst.value, ir.Arg):
            own = self.typeof(inst.target.name)
            found = self._short(own, inst) if isinstance(inst.value, ir.Expr) else None
            found = self.lower_assign(own, inst) if found is None else found
            self.storevar(found, inst.target.name)
        elif kind is ir.Del:
            self.delvar(inst.value)
        elif kind is not ir.SetItem or not self._set_element(inst):
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if argidx is not None or self._is_counted(name):
            super().storevar(value, name, argidx=argidx)
            return
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self._is_counted(name):
            super().delvar(name)
            return
        if name not in self._blk_local_varmap:  # in the order of blocks it is set later
            self._singly_assigned_vars.discard(name)
        self._alloca_var(name, self.typeof(name))

    def _is_counted(self, name: str) -> bool:
        """Whether a variable holds memory whose references are counted, or a debugger sees it."""
        if name not in self._counted:
            holds = self.context.data_model_manager[self.typeof(name)].contains_nrt_meminfo()
            counted = self.context.enable_nrt and holds
            self._counted[name] = bool(counted or self._disable_sroa_like_opt)
        return self._counted[name]

    def _short(self, kind: Any, inst: Any) -> Any:
        """The value of an expression that is known here; else None."""
        expr = inst.value
        if expr.op == "call":
            return self._call(kind, inst)
        known = {
            "binop": self._binop,
            "inplace_binop": self._binop,
            "getitem": self._element,
            "getattr": self._attribute,
            "getiter": self._iterator,
            "iternext": self._next,
        }
        return known[expr.op](kind, expr) if expr.op in known else None

    def _binop(self, kind: Any, expr: Any) -> Any:
        fn = expr.fn if expr.op == "binop" else expr.immutable_fn
        signature = self.fndesc.calltypes[expr]
        of, result = signature.args[0], signature.return_type
        known = _OF_FLOATS if of == types.float64 else _OF_INTEGERS
        computes = fn in known and result == of and (fn is not operator.truediv or self._numpy)
        if of != signature.args[1] or of not in NUMBERS or not (computes or fn in _COMPARED):
            return None
        sides = [self._cast(var, of) for var in (expr.lhs, expr.rhs)]
        if computes:
            flags = () if known is _OF_FLOATS else ("nsw",)
            made = getattr(self.builder, known[fn])(*sides, flags=flags)
        else:
            made = self._compared(fn, of, *sides)
        return self.context.cast(self.builder, made, result, kind)

    def _compared(self, fn: Any, of: Any, one: Any, other: Any) -> Any:
        if of == types.int64:
            return self.builder.icmp_signed(_COMPARED[fn], one, other)
        if fn is operator.ne:  # true of what is no number
            return self.builder.fcmp_unordered("!=", one, other)
        return self.builder.fcmp_ordered(_COMPARED[fn], one, other)

    def _attribute(self, kind: Any, expr: Any) -> Any:
        own = self.typeof(expr.value.name)
        if not isinstance(own, Reference):
            return None
        value, place = self.loadvar(expr.value.name), own.cls._fields.index(expr.attr)
        found = read_field(self.context, self.builder, own, value, place)
        return self.context.cast(self.builder, found, own.types[place], kind)

    def _cast(self, var: Any, to: Any) -> Any:
        value, own = self.loadvar(var.name), self.typeof(var.name)
        return value if own is to else self.context.cast(self.builder, value, own, to)

    def _element(self, kind: Any, expr: Any) -> Any:
        array, signature = self.typeof(expr.value.name), self.fndesc.calltypes[expr]
        place = self._place(array, expr.value, expr.index, signature.args[1])
        if place is None:
            return None
        found = load_item(self.context, self.builder, array, place)
        return self.context.cast(self.builder, found, signature.return_type, kind)

    def _set_element(self, inst: Any) -> bool:
        array, signature = self.typeof(inst.target.name), self.fndesc.calltypes[inst]
        place = self._place(array, inst.target, inst.index, signature.args[1])
        if place is None:
            return False
        value = self.context.cast(
            self.builder, self._cast(inst.value, signature.args[2]), signature.args[2], array.dtype
        )
        store_item(self.context, self.builder, array, value, place)
        return True

    def _place(self, array: Any, base: Any, index: Any, index_type: Any) -> Any:
        """Where an element is; None where the index is no integer for each axis."""
        kinds = tuple(index_type) if isinstance(index_type, types.BaseTuple) else (index_type,)
        known = type(array) is types.Array and isinstance(array.dtype, types.Number)
        signed = all(isinstance(kind, types.Integer) and kind.signed for kind in kinds)
        if not (known and self._exact and signed and len(kinds) == array.ndim):
            return None
        found, value = self._cast(index, index_type), self.loadvar(base.name)
        parts = [found] if kinds == (index_type,) else cgutils.unpack_tuple(self.builder, found)
        shape = self._fields(array, value, "shape")
        strides = shape if array.layout == "C" else self._fields(array, value, "strides")
        at = [
            self._wrapped(self.context.cast(self.builder, part, kind, types.intp), size)
            for part, kind, size in zip(parts, kinds, shape, strict=True)
        ]
        data = self._field(array, value, "data")
        get = cgutils.get_item_pointer2
        return get(self.context, self.builder, data, shape, strides, array.layout, at)

    def _wrapped(self, index: Any, size: Any) -> Any:
        """An index, from the end where it is negative."""
        negative = self.builder.icmp_signed("<", index, Constant(_WORD, 0))
        return self.builder.select(negative, self.builder.add(index, size), index)

    def _field(self, array: Any, value: Any, name: str) -> Any:
        model = self.context.data_model_manager[array]
        return self.builder.extract_value(value, model.get_field_position(name))

    def _fields(self, array: Any, value: Any, name: str) -> Any:
        return cgutils.unpack_tuple(self.builder, self._field(array, value, name), array.ndim)

    def _call(self, kind: Any, inst: Any) -> Any:
        """`len` of an array, and `range` in steps of 1, which `_iterator` goes through."""
        expr, function = inst.value, self.typeof(inst.value.func.name)
        if expr.kws or expr.vararg or not isinstance(function, types.Function):
            return None
        if function.typing_key is range and len(expr.args) < 3 and kind == types.range_state64_type:
            first = [Constant(_WORD, 0)] if len(expr.args) == 1 else []
            ends = (*first, *(self._cast(each, types.int64) for each in expr.args))
            self._ranges[inst.target.name] = ends
            return None
        if function.typing_key in (min, max) and len(expr.args) == 2:
            return self._least_or_most(kind, expr, largest=function.typing_key is max)
        array = self.typeof(expr.args[0].name) if expr.args else None
        if function.typing_key is not len or type(array) is not types.Array:
            return None
        size = self._fields(array, self.loadvar(expr.args[0].name), "shape")[0]
        return self.context.cast(self.builder, size, types.intp, kind)

    def _least_or_most(self, kind: Any, expr: Any, *, largest: bool) -> Any:
        """As Python has it: the first, unless the second is beyond it."""
        of = self.fndesc.calltypes[expr].return_type
        if of not in NUMBERS:
            return None
        first, second = (self._cast(each, of) for each in expr.args)
        beyond = self._compared(operator.gt if largest else operator.lt, of, second, first)
        return self.context.cast(self.builder, self.builder.select(beyond, second, first), of, kind)

    def _iterator(self, kind: Any, expr: Any) -> Any:
        ends = self._ranges.get(expr.value.name)
        if ends is None or expr.value.name not in self._blk_local_varmap:
            return None
        builder, (start, stop) = self.builder, ends
        at, left = (cgutils.alloca_once(builder, _WORD) for _ in range(2))
        length = builder.sub(stop, start)
        some = builder.icmp_signed(">", length, Constant(_WORD, 0))
        builder.store(start, at)
        builder.store(builder.select(some, length, Constant(_WORD, 0)), left)
        return self._made(kind, at, stop, Constant(_WORD, 1), left)

    def _next(self, kind: Any, expr: Any) -> Any:
        """The next number and whether there is one; nobody asks again after the last."""
        own = self.typeof(expr.value.name)
        if own != types.range_iter64_type:
            return None
        builder, value = self.builder, self.loadvar(expr.value.name)
        at, _, step, left = (builder.extract_value(value, k) for k in range(4))
        number, count = builder.load(at), builder.load(left)
        builder.store(builder.add(number, step), at)
        builder.store(builder.sub(count, Constant(_WORD, 1)), left)
        there = builder.icmp_signed(">", count, Constant(_WORD, 0))
        return self._made(kind, number, there)

    def _made(self, kind: Any, *fields: Any) -> Any:
        made = self.context.get_constant_undef(kind)
        for k, field in enumerate(fields):
            made = self.builder.insert_value(made, field, k)
        return made


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Numba's pass with `KernelLower`."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        return KernelLower
