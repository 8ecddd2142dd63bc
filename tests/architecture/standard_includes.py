# SPDX-License-Identifier: BSD-3-Clause
"""Every file includes the standard headers whose names it uses, itself or by headers of this tree:
other standard libraries do not include each other's headers as this machine's do. Usage:
standard_includes.py SOURCE_ROOT"""

import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from rooms import sources

HEADERS = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count
        count_if equal equal_range fill fill_n find find_end find_if find_if_not for_each generate
        includes inplace_merge is_sorted lexicographical_compare lower_bound make_heap max
        max_element merge min min_element minmax minmax_element mismatch none_of nth_element
        partial_sort partition partition_point pop_heap push_heap remove remove_if replace reverse
        rotate set_difference set_intersection set_union shuffle sort sort_heap stable_partition
        stable_sort transform unique upper_bound""",
    "array": "array to_array",
    "atomic": """atomic atomic_flag atomic_ref atomic_thread_fence memory_order memory_order_acq_rel
        memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst""",
    "bit": """bit_cast bit_ceil bit_floor bit_width countl_zero countr_one countr_zero endian
        has_single_bit popcount rotl rotr""",
    "cctype": "isalnum isalpha isdigit isspace tolower toupper",
    "cerrno": "errno",
    "charconv": "chars_format from_chars to_chars",
    "chrono": "chrono",
    "cmath": """abs ceil exp fabs floor fma fmod hypot isfinite isinf isnan llround log log10 log2
        lround nan pow round sqrt trunc""",
    "compare": "partial_ordering strong_ordering weak_ordering",
    "complex": "complex",
    "concepts": "convertible_to floating_point integral invocable same_as signed_integral",
    "condition_variable": "condition_variable",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t",
    "cstdint": """int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t
        uintptr_t""",
    "cstdio": """FILE fclose fflush fopen fprintf fputs fread fscanf fwrite getc printf remove
        rename snprintf sscanf""",
    "cstdlib": "_Exit abort abs aligned_alloc atexit atoi atoll exit free getenv malloc strtol",
    "cstring": """memchr memcmp memcpy memmove memset size_t strchr strcmp strcpy strerror strlen
        strncmp strncpy strrchr strstr""",
    "ctime": "size_t strftime time_t tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "cref function greater greater_equal hash invoke less not_equal_to plus ref",
    "initializer_list": "initializer_list",
    "iomanip": "put_time quoted setfill setprecision setw",
    "ios": "dec fixed hex ios scientific",
    "iterator": """advance back_inserter begin data distance empty end istreambuf_iterator
        make_move_iterator next prev rbegin rend size ssize""",
    "limits": "numeric_limits",
    "list": "list",
    "locale": "locale",
    "map": "map multimap",
    "memory": """addressof allocator enable_shared_from_this make_shared make_unique
        make_unique_for_overwrite shared_ptr to_address unique_ptr weak_ptr""",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "new": "align_val_t bad_alloc launder nothrow",
    "numeric": """accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint
        partial_sum reduce transform_reduce""",
    "optional": "nullopt optional",
    "ostream": "endl flush ostream",
    "queue": "priority_queue queue",
    "random": """bernoulli_distribution mt19937 mt19937_64 random_device uniform_int_distribution
        uniform_real_distribution""",
    "ranges": "ranges views",
    "set": "multiset set",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument logic_error out_of_range runtime_error",
    "string": "getline stoi stol stoll stoul string to_string u8string",
    "string_view": "string_view",
    "system_error": "errc error_code generic_category system_category system_error",
    "thread": "jthread this_thread thread",
    "tuple": "apply get ignore make_tuple tie tuple tuple_cat tuple_element_t tuple_size_v",
    "type_traits": """bool_constant conditional_t decay_t enable_if_t false_type integral_constant
        invoke_result_t is_arithmetic_v is_base_of_v is_const_v is_enum_v is_floating_point_v
        is_integral_v is_invocable_v is_pointer_v is_same_v is_signed_v is_trivially_copyable_v
        is_unsigned_v is_void_v make_unsigned_t remove_const_t remove_cv_t remove_cvref_t
        remove_pointer_t remove_reference_t true_type type_identity_t underlying_type_t""",
    "typeindex": "type_index",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": """as_const cmp_equal cmp_greater cmp_less declval exchange forward get in_place
        in_range index_sequence index_sequence_for make_index_sequence make_pair move pair swap
        tuple_element_t""",
    "variant": "get get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
# C++ says that these come with other headers, too.
WITH = {
    "algorithm": ["ranges"],  # std::ranges::sort and the like
    "sstream": ["ios", "ostream"],
    "fstream": ["ios", "ostream"],
    "iomanip": ["ios"],
    "iostream": ["ios", "ostream"],
    "ostream": ["ios"],
    "cstdio": ["cstddef"],
    "cstdlib": ["cstddef"],
    "cstring": ["cstddef"],
}
CONTAINERS = "array deque list map set span string string_view unordered_map unordered_set vector"
ITERATORS = "begin data empty end rbegin rend size ssize"
# These have a form in the header of each container.
EACH = {"erase": CONTAINERS, "erase_if": CONTAINERS} | {
    name: f"iterator {CONTAINERS}" for name in ITERATORS.split()
}


def providers() -> dict[str, set[str]]:
    found = defaultdict(set)
    for header, names in HEADERS.items():
        for name in names.split():
            found[name].add(header)
    for name, headers in EACH.items():
        found[name] |= set(headers.split())
    found["initializer_list"] |= set(CONTAINERS.split())
    for name in ("size_t", "ptrdiff_t"):  # of containers' own members
        found[name] |= set(CONTAINERS.split()) | {"algorithm", "memory", "numeric"}
    found["ranges"] |= {"algorithm", "iterator", "numeric", "span"}
    found["hash"] |= set(CONTAINERS.split()) | {"memory"}
    found["swap"] |= set(CONTAINERS.split()) | {"memory"}
    found["errc"] |= {"charconv"}
    return found


def text_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return re.sub(r'//.*|"(?:\\.|[^"\\\n])*"(?!\s*$)', "", text, flags=re.MULTILINE)


@cache
def direct(root: Path, path: Path) -> tuple[set[str], set[Path]]:
    """The standard headers that a file includes itself, and the headers of this tree."""
    standard, own = set(), set()
    text = path.read_text(encoding="utf-8")
    for mark, name in re.findall(r'^ *# *include *([<"])([^>"]+)', text, re.MULTILINE):
        places = [root / "src" / name, root / "include" / name, path.parent / name]
        file = next((place for place in places if place.is_file()), None)
        if file:
            own.add(file)
        elif mark == "<":
            standard |= {name, *WITH.get(name, [])}
    return standard, own


def included(root: Path, path: Path) -> set[str]:
    found, seen, next_ones = set(), set(), [path]
    while next_ones:
        file = next_ones.pop()
        if file not in seen:
            seen.add(file)
            standard, own = direct(root, file)
            found |= standard
            next_ones += own
    return found


def complaints(root: Path):
    known = providers()
    for _, path in sources(root):
        names = set(re.findall(r"\bstd::(\w+)", text_of(path)))
        headers = included(root, path)
        for name in sorted(names):
            if name not in known:
                yield f"{path}: std::{name} is in no list of standard_includes.py"
            elif not known[name] & headers:
                yield f"{path}: std::{name} needs <{min(known[name])}>"


if __name__ == "__main__":
    found = list(complaints(Path(sys.argv[1])))
    print("\n".join(found) or "all files include the standard headers that they use")
    sys.exit(bool(found))
