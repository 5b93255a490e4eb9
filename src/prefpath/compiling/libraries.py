"""What only kernels call stays in LLVM's own form: no machine code, and not optimised as a whole.

Numba makes a library of every function: linked with all it calls, optimised, and emitted as machine
code; whoever calls it links it in, and does all that again. Here this is left to what Python calls.
"""

# Numba has no types of its own.
# mypy: disable-error-code="no-untyped-call,attr-defined,assignment"

from __future__ import annotations

from typing import Any, ClassVar

from llvmlite import binding
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

from prefpath.compiling.typing import KernelFlags, RememberingContext

# Passes of Numba's that look for what no kernel has: closures, comprehensions, functions that ask
# to be inlined. Each walks over all statements, most of them twice.
_IDLE = frozenset(("InlineClosureLikes", "InlineOverloads", "NopythonRewrites"))
# What `InnerLibrary` replaces or calls. Another Numba may have none of it.
_USED = (
    "_finalize_dynamic_globals",
    "_finalize_final_module",
    "_get_module_for_linking",
    "_optimize_final_module",
    "_verify_declare_only_symbols",
    "codegen",
    "get_pointer_to_function",
)


def can_leave_unfinished() -> bool:
    """Whether this Numba builds libraries in the way that is known here."""
    return all(hasattr(JITCodeLibrary, name) for name in _USED)


class _WithoutEnvironments:
    """A code generator that tells no code where its Python objects are: there is no code."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, *_: Any) -> None:
        """Whoever links the library in does it (`set_environments`)."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class _Defined:
    """A module of which only functions with a body are seen: the others take LLVM as long."""

    def __init__(self, module: Any) -> None:
        self._module = module

    @property
    def functions(self) -> list[Any]:
        return [each for each in self._module.functions if not each.is_declaration]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


class _NotUnrolling:
    """A code generator that repeats no loop's body: the code is a third longer, and no faster.

    Loops of a known length are: in each function by itself, before it is linked.
    """

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def _module_pass_manager(self, **how: Any) -> Any:
        return type(self._codegen)._module_pass_manager(self, **how)

    def _pass_builder(self, **how: Any) -> Any:
        options = binding.create_pipeline_tuning_options(how.get("opt", config.OPT))
        options.loop_vectorization = how.get("loop_vectorize", config.LOOP_VECTORIZE)
        options.slp_vectorization = how.get("slp_vectorize", config.SLP_VECTORIZE)
        options.loop_unrolling = False
        return binding.create_pass_builder(self._codegen._tm, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class KernelLibrary(JITCodeLibrary):
    """A function and all it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        super()._optimize_functions(_Defined(ll_module))

    def _optimize_final_module(self) -> None:
        whole = self._codegen
        self._codegen = _NotUnrolling(whole) if hasattr(whole, "_pass_builder") else whole
        try:
            super()._optimize_final_module()
        finally:
            self._codegen = whole


class InnerLibrary(KernelLibrary):
    """A function and all it calls, to be linked into others."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        return 0


def _without_idle_passes(pipeline: Any) -> Any:
    """The same passes, but those that find nothing in a kernel."""
    short = PassManager(pipeline.pipeline_name)
    for each, words in pipeline.passes:
        if each.__name__ not in _IDLE:
            short.add_pass(each, words)
    short.finalize()
    return short


class OuterCompiler(Compiler):
    """Compiles as Numba does but for the ways of this folder, and remembers what it found out."""

    own_ways: ClassVar[bool] = can_leave_unfinished()

    def __init__(self, *how: Any, **named: Any) -> None:
        super().__init__(*how, **named)
        if OuterCompiler.own_ways:
            self.state.flags = KernelFlags(self.state.flags)

    def define_pipelines(self) -> Any:
        state, pipelines = self.state, super().define_pipelines()
        if not OuterCompiler.own_ways:
            return pipelines
        state.typingctx = RememberingContext(state.typingctx, state.flags)
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        return [_without_idle_passes(each) for each in pipelines]

    def _library(self, codegen: Any, name: str) -> Any:
        library = KernelLibrary(codegen, name)
        library.enable_object_caching()
        return library


class InnerCompiler(OuterCompiler):
    """Compiles into an unfinished library."""

    def _library(self, codegen: Any, name: str) -> Any:
        return InnerLibrary(codegen, name)


def set_environments(result: Any) -> None:
    """Tell code that has just been compiled where the Python objects of all it links are."""
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)
