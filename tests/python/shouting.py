"""A model runtime as a native module would give one: it answers with its prompt in capitals, a byte a token.

A native module has C functions; here ctypes makes them, and this module keeps them alive.
"""

import ctypes

from evalcore._abi import ABI_MAJOR, InStr, Tokens, lib

CAN_SAMPLE_PER_ROW, CAN_SCORE, IS_EXACT = 1, 4, 32
u32, i32, u64, f64, pointer, size = (
    ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_double, ctypes.c_void_p, ctypes.c_size_t,
)  # fmt: skip


class Traits(ctypes.Structure):
    _fields_ = [
        ("struct_size", u32), ("can", u32), ("name", InStr), ("model", InStr), ("identity", pointer),
        ("identity_size", size), ("max_rows", u32), ("context_tokens", u32), ("prefix_grid", u32),
    ]  # fmt: skip


class Row(ctypes.Structure):
    _fields_ = [
        ("struct_size", u32), ("max_tokens", u32), ("prompt", Tokens), ("source", pointer), ("restored", u32),
        ("has_seed", i32), ("seed", u64), ("cuts", pointer), ("cuts_size", size), ("temperature", f64),
        ("top_p", f64), ("min_p", f64), ("repetition_penalty", f64), ("presence_penalty", f64),
        ("frequency_penalty", f64), ("bias", pointer), ("bias_size", size), ("top_k", u32), ("logprobs", i32),
        ("top_logprobs", u32), ("reserved", u32), ("continuations", ctypes.POINTER(Tokens)),
        ("continuations_size", size), ("images", pointer), ("images_size", size),
    ]  # fmt: skip


FUNCTIONS = [
    ("start", ctypes.CFUNCTYPE(i32, pointer)),
    ("about", ctypes.CFUNCTYPE(i32, pointer, ctypes.POINTER(Traits))),
    ("render", pointer),
    ("tokenize", ctypes.CFUNCTYPE(i32, pointer, InStr, i32, ctypes.POINTER(Tokens))),
    ("open", ctypes.CFUNCTYPE(i32, pointer, ctypes.POINTER(Row), ctypes.POINTER(u64))),
    ("step", ctypes.CFUNCTYPE(i32, pointer, u32, pointer)),
    ("remove", ctypes.CFUNCTYPE(i32, pointer, u64)),
    *[(name, pointer) for name in ("interrupt", "snapshot_bytes", "take_snapshot", "free_snapshot", "memory")],
    ("last_words", pointer),
    ("destroy", ctypes.CFUNCTYPE(None, pointer)),
]


class Table(ctypes.Structure):
    _fields_ = [("struct_size", u32), ("reserved", u32), *FUNCTIONS]


class Shouting:
    def __init__(self):
        assert ABI_MAJOR == 1
        self.rows, self.last, self.kept, self.ended = {}, 0, None, 0
        lib.evc_step_prefilled.argtypes = [pointer, u64, u32, i32, u32]
        lib.evc_step_token.argtypes = [pointer, u64, i32, InStr, u32]
        lib.evc_step_end.argtypes = [pointer, u64, i32, u32]
        lib.evc_step_scored.argtypes = [pointer, u64, size, f64, i32, i32]
        made = {
            name: kind(getattr(self, f"_{name}")) for name, kind in FUNCTIONS if hasattr(self, f"_{name}")
        }
        self.table = Table(struct_size=ctypes.sizeof(Table), **made)
        self.address = ctypes.addressof(self.table)

    def _start(self, _):
        return 0

    def _about(self, _, traits):
        told = traits.contents
        self.name = (InStr(b"shouting", 8), InStr(b"capitals", 8))
        told.name, told.model = self.name
        told.can, told.max_rows, told.context_tokens = CAN_SAMPLE_PER_ROW | CAN_SCORE | IS_EXACT, 4, 4096
        return 0

    def _tokenize(self, _, text, special, out):
        given = ctypes.string_at(ctypes.cast(ctypes.byref(text), ctypes.POINTER(pointer))[0], text.size)
        self.kept = (i32 * len(given))(*given)
        out.contents.data, out.contents.size = self.kept, len(given)
        return 0

    def _open(self, _, row, out):
        asked = row.contents
        prompt = bytes(asked.prompt.data[: asked.prompt.size])
        scored = [bytes(one.data[: one.size]) for one in asked.continuations[: asked.continuations_size]]
        self.last += 1
        self.rows[self.last] = [prompt, prompt.decode().upper().encode(), False, scored]
        out[0] = self.last
        return 0

    def _step(self, _, width, out):
        open_rows = len(self.rows)
        for number, row in list(self.rows.items()):
            prompt, left, fed, scored = row
            if not fed:
                row[2] = True
                lib.evc_step_prefilled(out, number, len(prompt), 0, open_rows)
            elif scored:
                for place, one in enumerate(scored):
                    last = place + 1 == len(scored)
                    lib.evc_step_scored(out, number, place, -0.5 * len(one), int(left.startswith(one)), int(last))
                del self.rows[number]
            elif left:
                row[1] = left[1:]
                lib.evc_step_token(out, number, left[0], InStr(left[:1], 1), open_rows)
            else:
                lib.evc_step_end(out, number, 0, open_rows)
                del self.rows[number]
        return 0

    def _remove(self, _, number):
        self.rows.pop(number, None)
        return 1

    def _destroy(self, _):
        self.ended += 1
