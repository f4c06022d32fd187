"""Arithmetic for emulated devices: each operator of torch is repeated on the CPU, over the same memory.

A kernel of an emulated device takes time and computes nothing. Device memory is memory of the process, so that a tensor
of the CPU can share it. A dispatch mode runs each operator twice: on the device, for its calls and times, then on the
CPU, for its values. During the capture of a graph the second step becomes a part of the graph.

Kernels that Triton and NVRTC compile are not operators: nothing computes their values.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_iter, tree_map

Tensor: TypeAlias = torch.Tensor
_aten = torch.ops.aten

#: Operators that compute nothing: their outputs have no values yet, or their work is a copy, which is executed.
_WITHOUT_VALUES = {
    "aten::_cudnn_init_dropout_state",
    "aten::_cudnn_rnn_flatten_weight",
    "aten::_has_compatible_shallow_copy_type",
    "aten::_pin_memory",
    "aten::empty",
    "aten::empty_like",
    "aten::empty_permuted",
    "aten::empty_strided",
    "aten::is_pinned",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::record_stream",
    "aten::resize_",
    "aten::set_",
}
#: cuDNN's numbers of cells.
_CELLS = {0: "rnn_relu", 1: "rnn_tanh", 2: "lstm", 3: "gru"}
_GATES = {0: 1, 1: 1, 2: 4, 3: 3}

_CALLBACK = ctypes.CFUNCTYPE(None)
#: Steps of graphs: C has only their addresses.
_kept: list[Any] = []


class Arithmetic(TorchDispatchMode):
    """A mode that computes the values of operators on emulated devices."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.dynamic_output_shape in func.tags and args[0].is_cuda:
            # Only values give the shape of the output.
            device, computed = args[0].device, func(*tree_map(_on_cpu, args), **tree_map(_on_cpu, kwargs))
            return tree_map(lambda one: one.to(device) if isinstance(one, Tensor) else one, computed)
        seed = _seed(func, args, kwargs)
        found = func(*args, **kwargs)
        if not _has_values(func) or not _are_of_a_device((args, kwargs, found)):
            return found
        repeat = _Repeat(func, args, kwargs, found, seed)
        if torch.cuda.is_current_stream_capturing():
            _add_to_graph(repeat)
            return found
        computed = repeat()
        # A Python number was read from memory before it was computed.
        return found if isinstance(found, (Tensor, tuple, list, type(None))) else computed


class _Repeat:
    """An operator on the CPU, over the memory of a device.

    Args:
        func: The operator.
        args: Its arguments on the device.
        kwargs: Its arguments by name.
        found: Its outputs on the device.
        seed: Seed of its random numbers; None if it draws none.
    """

    def __init__(self, func: Any, args: Any, kwargs: Any, found: Any, seed: int | None) -> None:
        self._compute: Callable[..., Any] = _ON_CPU.get(func._schema.name, func)
        self._args, self._kwargs = tree_map(_on_cpu, (args, kwargs))
        self._kwargs.pop("pin_memory", None)
        returned = [found] if len(func._schema.returns) == 1 else found
        pairs = zip(func._schema.returns, returned or (), strict=True)
        # Others are inputs, which the operator writes.
        self._outputs = [tree_map(_on_cpu, one) if form.alias_info is None else None for form, one in pairs]
        self._is_single = len(func._schema.returns) == 1
        self._seed = seed
        if func._schema.name in {"aten::_cudnn_rnn", "aten::_cudnn_rnn_backward"}:
            # The memory that forward leaves for backward: both draw the same masks.
            reserve = found[3] if func._schema.name == "aten::_cudnn_rnn" else args[20]
            self._kwargs["mask_seed"] = reserve.data_ptr() if reserve.numel() else 0

    def __call__(self) -> Any:
        with _random_numbers(self._seed):
            computed = self._compute(*self._args, **self._kwargs)
        # An operator that only writes its inputs returns nothing.
        returned = [computed] if self._is_single else computed or ()
        for output, one in zip(self._outputs, returned, strict=False):
            into, values = ([*tree_iter(part)] for part in (output, one))
            for target, value in zip(into, values, strict=False):
                if isinstance(target, Tensor) and isinstance(value, Tensor):
                    target.copy_(value)
        return computed


def begin() -> None:
    """Computes the values of all operators of this thread, and of the backward passes that it starts."""
    Arithmetic().__enter__()
    trace = torch.jit.trace

    @wraps(trace)
    def without_values(*args: Any, **kwargs: Any) -> Any:
        # Torch records nothing under a mode.
        with _disable_current_modes():
            return trace(*args, **kwargs)

    torch.jit.trace = without_values


def _has_values(func: Any) -> bool:
    schema = func._schema
    is_view = any(one.alias_info is not None and not one.alias_info.is_write for one in schema.returns)
    return not is_view and schema.name not in _WITHOUT_VALUES


def _are_of_a_device(values: Any) -> bool:
    found = False
    for one in tree_iter(values):
        if isinstance(one, Tensor):
            if type(one) not in {Tensor, torch.nn.Parameter}:
                # A compiler's tensor: it has no memory.
                return False
            found = found or one.is_cuda
    return found


def _on_cpu(value: Any) -> Any:
    """A tensor of the CPU in the same memory; other values of a device as the CPU has them."""
    if isinstance(value, Tensor):
        return _over_memory(value) if value.is_cuda else value.detach()
    if isinstance(value, torch.device):
        return torch.device("cpu")
    # Its seed was taken.
    return None if isinstance(value, torch.Generator) else value


def _over_memory(tensor: Tensor) -> Tensor:
    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    memory = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
    shared = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
    empty = torch.empty(0, dtype=tensor.dtype)
    return empty.set_(shared, tensor.storage_offset(), tensor.size(), tensor.stride())  # type: ignore[call-overload, no-any-return]


def _add_to_graph(repeat: Callable[[], Any]) -> None:
    step = _CALLBACK(repeat)
    _kept.append(step)
    stream = torch.cuda.current_stream().cuda_stream
    ctypes.CDLL(None).emulated_cuda_graph_step(ctypes.c_void_p(stream), step)


def _seed(func: Any, args: Any, kwargs: Any) -> int | None:
    """The seed of an operator that draws random numbers, before it advances the device's generator."""
    if torch.Tag.nondeterministic_seeded not in func.tags or torch.cuda.is_current_stream_capturing():
        return None
    given = [one.device for one in tree_iter((args, kwargs)) if isinstance(one, (Tensor, torch.Generator))]
    device = next((one for one in [*given, kwargs.get("device")] if one is not None and one.type == "cuda"), None)
    if device is None:
        return None
    torch.cuda.init()
    own = torch.cuda.default_generators[torch.cuda.current_device() if device.index is None else device.index]
    generator = next((one for one in tree_iter((args, kwargs)) if isinstance(one, torch.Generator)), own)
    return (generator.initial_seed() * 1_000_003 + generator.get_offset()) % 2**63


@contextmanager
def _random_numbers(seed: int | None) -> Iterator[None]:
    """Draws from a seed, and leaves the CPU's own generator as it was."""
    if seed is None:
        yield
        return
    before = torch.get_rng_state()
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before)


@contextmanager
def _differentiated() -> Iterator[None]:
    """Records gradients, which a mode of dispatch does not: it runs below them."""
    none = torch._C.DispatchKeySet(torch._C.DispatchKey.Undefined)
    with torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), none), torch.enable_grad():
        yield


def _cudnn_rnn(
    x: Tensor,
    weights: Sequence[Tensor],
    each: int,
    _buffer: Tensor | None,
    hx: Tensor,
    cx: Tensor | None,
    cell: int,
    hidden: int,
    projection: int,
    layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    *_: Any,
    mask_seed: int,
) -> tuple[Tensor, ...]:
    # Like cuDNN, which rounds its results and not its sums. OneDNN, which has no double precision, rounds more.
    # With autocast they are parts of a buffer, without their shapes.
    matrix, bias, projected = (_GATES[cell] * hidden, -1), (-1,), (projection, hidden)
    shapes = {2: [matrix, matrix], 3: [matrix, matrix, projected], 4: [matrix, matrix, bias, bias]}
    shapes[5] = [*shapes[4], projected]
    parameters = [one.double().reshape(shapes[each][at % each]) for at, one in enumerate(weights)]
    states: Any = hx.double() if cx is None else (hx.double(), cx.double())
    options = (parameters, each > 3, layers, dropout, train, bidirectional)
    function = getattr(torch._VF, _CELLS[cell])
    with _random_numbers(mask_seed if dropout else None):
        if batch_sizes:
            found = function(x.double(), torch.tensor(batch_sizes), states, *options)
        else:
            found = function(x.double(), states, *options, batch_first)
    y, h, *c = found
    return y, h, *(c or [hx.new_empty(0)])


def _cudnn_rnn_backward(
    x: Tensor,
    weights: Sequence[Tensor],
    each: int,
    buffer: Tensor | None,
    hx: Tensor,
    cx: Tensor | None,
    _output: Tensor,
    grad_y: Tensor | None,
    grad_h: Tensor | None,
    grad_c: Tensor | None,
    *options: Any,
    mask_seed: int,
) -> tuple[Any, ...]:
    *options, _state, _reserve, _mask = options  # type: ignore[assignment]
    with _differentiated():
        inputs = [one.detach().requires_grad_() for one in (x, hx, *([] if cx is None else [cx]), *weights)]
        given_x, given_h, *rest = inputs
        given_c = None if cx is None else rest.pop(0)
        outputs = _cudnn_rnn(given_x, rest, each, buffer, given_h, given_c, *options, mask_seed=mask_seed)
        started = [(one, g) for one, g in zip(outputs, (grad_y, grad_h, grad_c), strict=True) if g is not None]
        found = torch.autograd.grad(
            [one for one, _ in started], inputs, [g.to(one.dtype) for one, g in started], allow_unused=True
        )
    of_x, of_h, *rest_found = found
    of_c = None if cx is None else rest_found.pop(0)
    return of_x, of_h, of_c, rest_found


def _lstm_cell(
    x_gates: Tensor, h_gates: Tensor, cx: Tensor, x_bias: Tensor | None = None, h_bias: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    gates = x_gates + h_gates
    if x_bias is not None and h_bias is not None:
        gates = gates + x_bias + h_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(
    grad_h: Tensor | None, grad_c: Tensor | None, cx: Tensor, cy: Tensor, saved: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    i, f, g, o = saved.chunk(4, 1)
    of_h = torch.zeros_like(cy) if grad_h is None else grad_h
    tanh = cy.tanh()
    of_c = of_h * o * (1 - tanh * tanh)
    if grad_c is not None:
        of_c = of_c + grad_c
    of_gates = [of_c * g * i * (1 - i), of_c * cx * f * (1 - f), of_c * i * (1 - g * g), of_h * tanh * o * (1 - o)]
    gates = torch.cat(of_gates, 1)
    return gates, of_c * f, gates.sum(0) if has_bias else None


def _gru_cell(
    x_gates: Tensor, h_gates: Tensor, hx: Tensor, x_bias: Tensor | None = None, h_bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    if x_bias is not None and h_bias is not None:
        x_gates, h_gates = x_gates + x_bias, h_gates + h_bias
    (x_r, x_z, x_n), (h_r, h_z, h_n) = x_gates.chunk(3, 1), h_gates.chunk(3, 1)
    r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
    n = (x_n + r * h_n).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, h_n], 1)


def _gru_cell_backward(grad: Tensor, saved: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    r, z, n, hx, h_n = saved.chunk(5, 1)
    of_n = grad * (1 - z) * (1 - n * n)
    of_r, of_z = of_n * h_n * r * (1 - r), grad * (hx - n) * z * (1 - z)
    of_x, of_h = torch.cat([of_r, of_z, of_n], 1), torch.cat([of_r, of_z, of_n * r], 1)
    return of_x, of_h, grad * z, of_x.sum(0) if has_bias else None, of_h.sum(0) if has_bias else None


def _batch_norm(
    x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor | None, var: Tensor | None, *rest: Any
) -> tuple[Tensor, ...]:
    """Sums in single precision or better, whatever it stores."""
    wide = _wide(x.dtype)
    running = [None if one is None else one.to(wide) for one in (mean, var)]
    found: tuple[Tensor, ...] = _aten.native_batch_norm(x.to(wide), weight.to(wide), bias.to(wide), *running, *rest)
    for one, updated in zip((mean, var), running, strict=True):
        if one is not None and updated is not None:
            one.copy_(updated)
    return found


def _batch_norm_backward(grad: Tensor, x: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    wide = _wide(x.dtype)
    widened = [one.to(wide) if isinstance(one, Tensor) else one for one in rest]
    found: tuple[Tensor, ...] = _aten.native_batch_norm_backward(
        grad.to(wide).contiguous(), x.to(wide).contiguous(), *widened
    )
    return found


def _cudnn_batch_norm_backward(
    x: Tensor, grad: Tensor, weight: Tensor, mean: Any, var: Any, saved_mean: Any, saved_var: Any, eps: float, *_: Any
) -> tuple[Tensor, ...]:
    every = [True, True, True]
    return _batch_norm_backward(grad, x, weight, mean, var, saved_mean, saved_var, True, eps, every)  # noqa: FBT003


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


#: Operators that the CPU does not have, or not in these dtypes.
_ON_CPU: dict[str, Callable[..., Any]] = {
    "aten::_cudnn_rnn": _cudnn_rnn,
    "aten::_cudnn_rnn_backward": _cudnn_rnn_backward,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "aten::cudnn_batch_norm": _batch_norm,
    "aten::cudnn_batch_norm_backward": _cudnn_batch_norm_backward,
    "aten::native_batch_norm": _batch_norm,
    "aten::native_batch_norm_backward": _batch_norm_backward,
}
