# SPDX-License-Identifier: BSD-3-Clause
"""The C functions that Python calls, and the structures that they take (docs/adr/0032).

tests/python/test_prototypes.py compares all of it with the headers.
"""

from __future__ import annotations

import ctypes

MOST_DIMS = 5  # TONARI_GRID_MAX_DIMS

# A character per argument: H a handle of MPI (communicator, info, datatype, operation), i an int,
# l an int64_t, p any pointer or handle of tonari; an array of handles is one. All return an int.
EQUAL = "piHpiH"  # sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
VECTOR = "pppHpppH"
FULL = "pppppppp"
GATHER_VECTOR = "piHpppH"
GATHER_FULL = "piHpppp"
OPERATIONS = {
    "alltoall": EQUAL,
    "alltoallv": VECTOR,
    "alltoallw": FULL,
    "allgather": EQUAL,
    "allgatherv": GATHER_VECTOR,
    "allgatherw": GATHER_FULL,
}
IN_PLACE = {
    "alltoall_inplace": "piH",
    "alltoallv_inplace": "pppH",
    "alltoallw_inplace": "pppp",
    "alltoallv_inplace_general": "pppppH",
}
FUNCTIONS = {
    "neighborhood_create_cart": "HipHp",
    "neighborhood_create_adjacent": "HippippHp",
    "neighborhood_create_from_destinations": "HipHp",
    "neighborhood_create_from_comm": "HHp",
    "neighborhood_free": "p",
    "neighborhood_degrees": "ppp",
    "neighborhood_ranks": "ppp",
    **{f"{name}_init": f"{kinds}pHp" for name, kinds in OPERATIONS.items()},
    **{f"i{name}": f"{kinds}pp" for name, kinds in OPERATIONS.items()},
    **{name: f"{kinds}p" for name, kinds in OPERATIONS.items()},
    **{f"{name}_init": f"{kinds}HHp" for name, kinds in IN_PLACE.items()},
    **{f"i{name}": f"{kinds}HHp" for name, kinds in IN_PLACE.items()},
    **{name: f"{kinds}HH" for name, kinds in IN_PLACE.items()},
    "start": "p",
    "start_on": "pp",
    "start_with": "ppp",
    "test": "pp",
    "wait": "p",
    "wait_on": "pp",
    "startall": "ip",
    "waitall": "ip",
    "request_free": "p",
    "request_recv_view": "pipp",
    "request_get_info": "pp",
    "grid_create": "HppHp",
    "grid_free": "p",
    "grid_memory_hold": "pp",
    "grid_memory_release": "p",
    "grid_forward_init": "pipHp",
    "grid_reverse_init": "pipHHp",
    "grid_forward": "pip",
    "grid_reverse": "pipH",
    "grid_start_with": "pp",
    "grid_get_info": "pp",
    "grid_get_cells": "pipp",
    "grid_data": "piiip",
    "grid_get_bricks": "pip",
    "grid_get_array": "pip",
    "grid_boxes": "piipp",
    "grid_import": "piiipp",
    "grid_export": "piiipp",
    "grid_save": "piip",
    "grid_load": "piip",
    "vector_create": "HlllpHp",
    "vector_create_from_ids": "HlpplppHp",
    "vector_create_shared": "HlppHp",
    "vector_create_from_neighbors": "HlipppipppHp",
    "vector_create_box_nodes": "HpHp",
    "vector_create_box_cells": "HpiiHp",
    "vector_free": "p",
    "vector_forward_init": "ppppHp",
    "vector_reverse_init": "ppHppHp",
    "vector_combine_init": "ppHppHp",
    "vector_forward": "pppp",
    "vector_reverse": "ppHpp",
    "vector_combine": "ppHpp",
    "vector_get_facts": "pp",
    "blocks_create": "HpHp",
    "blocks_free": "p",
    "blocks_get_own": "ppp",
    "blocks_get_array": "plp",
    "blocks_forward_init": "pppHp",
    "blocks_reverse_init": "pppHHp",
    "blocks_start_with": "pp",
    "blocks_forward": "ppp",
    "blocks_reverse": "pppH",
    "sparse_alltoallv": "ipppHpHHp",
    "sparse_ialltoallv": "ipppHpHHpp",
    "messages_free": "p",
    "group_start": "H",
    "group_end": "Hp",
    "group_irun": "Hp",
    "group_run": "H",
}
# What never waits for other ranks, and is called so often that giving up the interpreter's lock
# would show.
QUICK = {"start", "start_with", "test"}

_Cells = ctypes.c_int64 * MOST_DIMS


class RequestInfo(ctypes.Structure):
    """tonari_request_info"""

    _fields_ = [
        ("algorithm", ctypes.c_char_p),
        ("variant", ctypes.c_char_p),
        ("channel", ctypes.c_char_p),
        ("channel_detail", ctypes.c_char_p),
        ("reason", ctypes.c_char_p),
        ("predicted_seconds", ctypes.c_double),
        ("init_seconds", ctypes.c_double),
        ("measured_seconds", ctypes.c_double),
        ("messages", ctypes.c_int),
        ("rounds", ctypes.c_int),
        ("bytes", ctypes.c_int64),
        ("scratch_bytes", ctypes.c_int64),
        ("lost_seconds", ctypes.c_double),
        ("ranks_per_core", ctypes.c_int64),
        ("reserved", ctypes.c_int64 * 7),
    ]


class GridInfo(ctypes.Structure):
    """tonari_grid_info"""

    _fields_ = [
        ("dims", ctypes.c_int),
        ("subdomains", ctypes.c_int),
        ("fields", ctypes.c_int),
        ("copies", ctypes.c_int),
        ("global", _Cells),
        ("element_bytes", ctypes.c_size_t),
        ("page", ctypes.c_size_t),
        ("padding_percent", ctypes.c_double),
        ("mappings", ctypes.c_int64),
        ("bytes", ctypes.c_size_t),
        ("reserved", ctypes.c_int64 * 8),
    ]


class Array(ctypes.Structure):
    """tonari_array"""

    _fields_ = [
        ("dims", ctypes.c_int),
        ("lower", _Cells),
        ("own", _Cells),
        ("upper", _Cells),
        ("stride", _Cells),
        ("reserved", ctypes.c_int64 * 8),
    ]


class Bricks(ctypes.Structure):
    """tonari_bricks"""

    _fields_ = [
        ("dims", ctypes.c_int),
        ("brick", _Cells),
        ("lower", _Cells),
        ("own", _Cells),
        ("upper", _Cells),
        ("count", ctypes.c_int64),
        ("own_count", ctypes.c_int64),
        ("interior_count", ctypes.c_int64),
        ("number", ctypes.c_void_p),
        ("position", ctypes.c_void_p),
        ("neighbors", ctypes.c_void_p),
        ("place", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 8),
    ]


class Box(ctypes.Structure):
    """tonari_box"""

    _fields_ = [("first", _Cells), ("end", _Cells)]


class Ghosts(ctypes.Structure):
    """tonari_ghosts"""

    _fields_ = [
        ("lower", _Cells),
        ("upper", _Cells),
        ("along", ctypes.c_int),
        ("reserved", ctypes.c_int * 7),
    ]


class VectorFacts(ctypes.Structure):
    """tonari_vector_facts"""

    _fields_ = [
        ("ghosts", ctypes.c_int64),
        ("sources", ctypes.c_int),
        ("targets", ctypes.c_int),
        ("stages", ctypes.c_int),
        ("values_sent", ctypes.c_int64),
        ("values_received", ctypes.c_int64),
        ("route", ctypes.c_char * 24),
        ("owned_length", ctypes.c_int64),
        ("ghost_length", ctypes.c_int64),
        ("reserved", ctypes.c_int64 * 6),
    ]


class Messages(ctypes.Structure):
    """tonari_messages_s"""

    _fields_ = [
        ("count", ctypes.c_int),
        ("sources", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("displs", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("total", ctypes.c_int64),
        ("algorithm", ctypes.c_char_p),
    ]


def with_handles(handle: type) -> tuple[type[ctypes.Structure], ...]:
    """tonari_grid_shape, tonari_vector_values and tonari_blocks_shape, which have a datatype in
    them, of this type."""

    class GridShape(ctypes.Structure):
        """tonari_grid_shape"""

        _fields_ = [
            ("dims", ctypes.c_int),
            ("cells", _Cells),
            ("local", ctypes.c_int),
            ("lower", _Cells),
            ("upper", _Cells),
            ("subdomains", ctypes.c_int * MOST_DIMS),
            ("fields", ctypes.c_int),
            ("interleaved", ctypes.c_int),
            ("copies", ctypes.c_int),
            ("type", handle),
            ("storage", ctypes.c_int),
            ("brick", _Cells),
            ("page", ctypes.c_size_t),
            ("huge_pages", ctypes.c_int),
            ("mapped_ghosts", ctypes.c_int),
            ("order", ctypes.c_int),
            ("memory", ctypes.c_int),
            ("device", ctypes.c_int),
            ("reserved", ctypes.c_int * 5),
        ]

    class VectorValues(ctypes.Structure):
        """tonari_vector_values"""

        _fields_ = [
            ("type", handle),
            ("components", ctypes.c_int),
            ("vectors", ctypes.c_int),
            ("owned_stride", ctypes.c_int64),
            ("ghost_stride", ctypes.c_int64),
            ("reserved", ctypes.c_int64 * 8),
        ]

    class BlocksShape(ctypes.Structure):
        """tonari_blocks_shape"""

        _fields_ = [
            ("dims", ctypes.c_int),
            ("count", ctypes.c_int64),
            ("boxes", ctypes.c_void_p),
            ("owners", ctypes.c_void_p),
            ("domain", Box),
            ("periodic", ctypes.c_int * MOST_DIMS),
            ("lower", _Cells),
            ("upper", _Cells),
            ("type", handle),
            ("fields", ctypes.c_int),
            ("order", ctypes.c_int),
            ("reserved", ctypes.c_int * 8),
        ]

    return GridShape, VectorValues, BlocksShape
