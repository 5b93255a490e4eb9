"""Named tuples that kernels get by reference, as one address, instead of array by array.

To Numba a named tuple is all that is in it: whoever passes one on passes every array of it with its
shape and strides, counts a reference to each, and an entry from Python unpacks them one by one. Of
a tuple of such tuples that is hundreds of numbers, in each call of each kernel, for LLVM to see
through. `by_reference` lays a tuple out in memory once, and a kernel reads there what it uses. The
values are those of the tuple, and its arrays live as long as it does.
"""

# Numba has no types of its own.
# mypy: disable-error-code="no-untyped-call,untyped-decorator,misc,override"

from __future__ import annotations

import hashlib
import struct
from array import array
from ctypes import addressof, c_char
from itertools import accumulate
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array

_T = TypeVar("_T")
_WORD = ir.IntType(64)
_SCALARS = (types.int64, types.float64, types.boolean)


class _Address(int):
    """Where a tuple is laid out; keeps that memory."""

    words: Any


class _Referenced:
    """What a tuple that kernels get by reference has beside its fields."""

    def __getattr__(self, name: str) -> Any:
        # Found in vars(self) ever after. Two threads may lay it out: the first one's is taken.
        if name == "_address":
            return vars(self).setdefault(name, _laid_out(cast(tuple[Any, ...], self)))
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __getstate__(self) -> None:
        """An address means nothing to another process."""


def by_reference(cls: type[_T]) -> type[_T]:
    """The same class of named tuples, which kernels get by reference.

    Of fields that are arrays, float, int, bool, or such tuples; a tuple with another field is
    passed as Numba passes it. Kernels read its fields and unpack it, but do not make it.
    """
    body = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    return type(cls.__name__, (_Referenced, cls), body)


def _laid_out(values: tuple[Any, ...]) -> _Address:
    words: list[int] = []
    for value in values:
        if isinstance(value, np.ndarray):
            words.append(_address_of(value))
            words.extend(value.shape)
            if not value.flags.c_contiguous:
                words.extend(value.strides)
        elif isinstance(value, _Referenced):
            words.append(value._address)
        elif isinstance(value, float):
            words += struct.unpack("q", struct.pack("d", value))
        else:
            words.append(int(value))
    kept = array("q", words)
    address = _Address(kept.buffer_info()[0])
    address.words = kept
    return address


def _address_of(values: Any) -> int:
    """Where the numbers of an array are."""
    try:
        return addressof(c_char.from_buffer(values))  # in a quarter of the time
    except (TypeError, ValueError):  # read-only, empty, or with gaps
        place: int = values.__array_interface__["data"][0]
        return place


class Reference(types.BaseTuple):
    """The type of such a tuple: its class and the types of its fields."""

    def __init__(self, cls: Any, fields: tuple[Any, ...]) -> None:
        self.cls, self.types = cls, fields
        # Numba names functions after their types: in full these would be pages.
        digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:16]
        super().__init__(f"{cls.__qualname__}.{digest}")

    @property
    def key(self) -> Any:
        return self.cls, self.types

    def __len__(self) -> int:
        return len(self.types)

    def __iter__(self) -> Any:
        return iter(self.types)

    def __getitem__(self, index: int) -> Any:
        return self.types[index]

    def place(self, index: int) -> int:
        """The first word of a field."""
        return [0, *accumulate(_n_words(field) for field in self.types)][index]


def _n_words(field: Any) -> int:
    if isinstance(field, types.Array):
        return 1 + field.ndim * (1 if field.layout == "C" else 2)
    return 1


@typeof_impl.register(_Referenced)
def _type_of(value: Any, c: Any) -> Any:
    fields = tuple(typeof_impl(field, c) for field in value)
    known = (types.Array, Reference)
    if all(field in _SCALARS or isinstance(field, known) for field in fields):
        return Reference(type(value), fields)
    return types.NamedTuple(fields, type(value))


@register_model(Reference)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _WORD.as_pointer())


@unbox(Reference)
def _unbox(typ: Any, obj: Any, c: Any) -> Any:  # noqa: ARG001
    address = c.pyapi.object_getattr_string(obj, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    found = c.builder.bitcast(pointer, _WORD.as_pointer())
    return NativeValue(found, is_error=c.pyapi.c_api_error())


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        fields = typ.cls._fields
        return typ.types[fields.index(attr)] if attr in fields else None


@lower_getattr_generic(Reference)
def _get_attribute(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    return read_field(context, builder, typ, value, typ.cls._fields.index(attr))


@lower_builtin("static_getitem", Reference, types.IntegerLiteral)
@lower_builtin("static_getitem", Reference, types.Integer)
def _get_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return read_field(context, builder, sig.args[0], args[0], args[1])


def read_field(context: Any, builder: Any, typ: Any, pointer: Any, index: int) -> Any:
    """A field, from the words that are laid out; nothing ever changes these."""
    field, place = typ.types[index], typ.place(index)
    never_changes = builder.module.add_metadata([])

    def word(k: int, kind: Any = _WORD) -> Any:
        at = builder.gep(pointer, [ir.Constant(_WORD, place + k)])
        loaded = builder.load(builder.bitcast(at, kind.as_pointer()))
        loaded.set_metadata("invariant.load", never_changes)
        return loaded

    if isinstance(field, types.Array):
        return _array(context, builder, field, word)
    if field == types.boolean:
        return builder.icmp_unsigned("!=", word(0), ir.Constant(_WORD, 0))
    return word(0, context.get_value_type(field))


def _array(context: Any, builder: Any, field: Any, word: Any) -> Any:
    """An array whose memory is not counted: it lives as long as the tuple."""
    array = make_array(field)(context, builder)
    item = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(field.dtype)))
    shape = [word(1 + k) for k in range(field.ndim)]
    if field.layout == "C":
        strides = [item]
        for size in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], size))
    else:
        strides = [word(1 + field.ndim + k) for k in range(field.ndim)]
    data = word(0, context.get_data_type(field.dtype).as_pointer())
    populate_array(array, data, shape, strides, item, None)
    return array._getvalue()
