# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""What the extension module hands out: statuses, errors, records."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

if TYPE_CHECKING:
    from ._core import Source


class Status(enum.IntEnum):
    """Why a call was refused: the values of C's enum ashlar_status."""

    OK = 0
    #: An argument is out of its documented bounds.
    INVALID = -1
    #: An address or size is not aligned as it must be, or lies inside a slot.
    MISALIGNED = -2
    #: A name is taken by a type of another size or a fixed alignment.
    CONFLICT = -3
    #: The host has no memory left for it.
    NO_MEMORY = -4
    #: The device has no memory left for it.
    NO_DEVICE_MEMORY = -5
    #: No stretch of addresses of that length is left.
    NO_ADDRESS_SPACE = -6
    #: A limit that the caller set (max_slots, a quota) is reached.
    LIMIT = -7
    #: It cannot grow where it is, and may not move.
    NO_ROOM = -8
    #: There is enough room, but not side by side.
    FRAGMENTED = -9
    #: It does not belong to this object.
    WRONG_OWNER = -10
    #: The slot or run is not live: it was released already.
    NOT_LIVE = -11
    #: Something is still in use.
    BUSY = -12
    #: This object, source or build cannot do it.
    UNSUPPORTED = -13
    #: Nothing of that name exists.
    NOT_FOUND = -14
    #: No plug-in of that name could be loaded.
    NO_PLUGIN = -15
    #: The driver's library, or its bindings, are not there.
    NO_DRIVER = -16
    #: The driver lacks an entry point that is needed.
    DRIVER_TOO_OLD = -17
    #: A driver call failed; the sentence has its name and number.
    DRIVER = -18
    #: The device context had failed before this call.
    CONTEXT_FAILED = -19
    #: A stream capture forbids it.
    CAPTURE = -20
    #: The object belongs to the parent process and cannot be used here.
    FORKED = -21
    #: The object was closed.
    STALE = -22


class Error(Exception):
    """A call was refused, and changed nothing.

    str(error) is a sentence: what was wrong, with the values, and what would
    be right. error.status is the reason, a Status (or, from a library newer
    than this package, a plain int).
    """

    status: Status | int

    def __init__(self, message: str, status: int = Status.INVALID) -> None:
        super().__init__(message)
        try:
            self.status = Status(status)
        except ValueError:
            self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.status)


class Finding(NamedTuple):
    """One thing that is wrong with a Spec."""

    #: The rule, such as "stride-multiple".
    rule: str
    #: "error", the encoder refuses; "warning", people regret it.
    severity: str
    #: What to change: the name of a member of Spec.
    field: str
    #: Which entry of it, where it has several.
    index: int | None
    #: What it is: a number, or a setting's name.
    value: int | str
    #: The number that the rule names: a multiple, a bound, bytes.
    bound: int
    #: The nearest value that the rule allows.
    right: int | str
    #: The field that makes the rule apply, if one does, and what it is.
    cause: str | None
    cause_value: int | str | None
    #: All that in words.
    sentence: str

    def __str__(self) -> str:
        return f"{self.sentence} ({self.rule})"


class SpecError(Error):
    """The encoder does not take a Spec: all that is wrong with it.

    str(error) has a line for each; error.findings are the same as Findings,
    and error.index says which of many specs it was.
    """

    findings: tuple[Finding, ...]
    index: int | None

    def __init__(
        self, findings: Iterable[Finding], index: int | None = None
    ) -> None:
        self.findings = tuple(findings)
        self.index = index
        spec = "the spec" if index is None else f"specs[{index}]"
        rules = f"{len(self.findings)} rules"
        if len(self.findings) == 1:
            rules = "a rule"
        super().__init__(
            "\n  ".join(
                [f"{spec} breaks {rules} of the encoder:"]
                + [str(finding) for finding in self.findings]
            ),
            Status.INVALID,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.findings, self.index)


class TypeInfo(NamedTuple):
    """A registered type. Sizes and alignments are bytes."""

    #: The registered name.
    name: str
    #: Of one object.
    size: int
    #: Every slot starts at a multiple of it.
    alignment: int
    #: From slot to slot: size rounded up to alignment.
    stride: int
    #: Other names that find it.
    aliases: tuple[str, ...]
    #: Where size and alignment come from; "" when registered.
    source: str
    #: What CUDA 12 declares; 0 when there is no such type there.
    cuda12_alignment: int
    #: What CUDA 13 declares; 0 when there is no such type there.
    cuda13_alignment: int
    #: Part of the library: size and alignment are fixed.
    built_in: bool
    #: A pool of it exists or existed: the alignment is fixed.
    frozen: bool
    #: Listed only because people take it for over-aligned.
    not_over_aligned: bool


class PoolStats(NamedTuple):
    """What a pool holds and did.

    While nobody uses the pool,
    live_slots + cached_slots + free_slots == capacity_slots.
    """

    #: With callers, those of runs included.
    live_slots: int
    #: In threads' caches.
    cached_slots: int
    #: In the shared store, and in free runs.
    free_slots: int
    #: All.
    capacity_slots: int
    #: The most that were outside the shared store.
    peak_slots: int
    #: The most there may be.
    max_slots: int
    #: What reserve() promised: slots that may be live at once.
    promised_slots: int
    live_runs: int
    #: Cut, and waiting for their length to be asked for again.
    free_runs: int
    #: Bytes from slot to slot.
    stride: int
    #: Bytes of address space that the slabs take.
    slab_bytes: int
    #: Bytes lost to rounding in live slots.
    waste_bytes: int
    #: Bytes of the library's own records for this pool.
    bookkeeping_bytes: int
    slabs: int
    caches: int
    #: Calls into the source: memory asked for, purged, given back.
    source_calls: int
    #: Times a cache or a bulk took from the shared store.
    store_takes: int
    #: Times a cache or a bulk gave to the shared store.
    store_gives: int
    #: Calls that were refused.
    refusals: int
    #: Slots that racing puts had put twice, found and dropped.
    duplicates: int


class Fence(NamedTuple):
    """When what is given up may go: made by after() and its like, or QUIET."""

    #: "quiet", "stream", "event", "capture" or "graph".
    kind: str
    #: The stream, event or graph, as a number.
    handle: int = 0
    #: The source that it belongs to; None: that of what is given up.
    source: Source | None = None


#: Nobody uses it any more: there is nothing to wait for.
QUIET = Fence("quiet")


def _handle(given: Any) -> int:
    """The number of a stream, event or graph, whoever's object it is."""
    protocol = getattr(given, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    # PyTorch's names, and CuPy's.
    for name in ("cuda_stream", "cuda_event", "ptr", "graph"):
        number = getattr(given, name, None)
        if isinstance(number, int):
            return number
    if isinstance(given, (str, bytes, float)):
        raise TypeError(f"{given!r} is no stream, event or graph")
    return int(given)


def after(stream: Any, source: Source | None = None) -> Fence:
    """The fence that passes when the work queued on a stream so far is done.

    stream  of CuPy, PyTorch, cuda.core, cuda.bindings, or its number; 0 is the
            default stream, and waits
    source  the source that it belongs to, if not that of what is given up
    """
    return Fence("stream", _handle(stream), source)


def after_event(event: Any, source: Source | None = None) -> Fence:
    """The fence that passes with an event, which you keep until it has."""
    return Fence("event", _handle(event), source)


def after_capture(stream: Any, source: Source | None = None) -> Fence:
    """The fence that passes when the graph that a stream is being captured
    into is gone, and every executable graph that is made of it."""
    return Fence("capture", _handle(stream), source)


def after_graph(graph: Any, source: Source | None = None) -> Fence:
    """The same of a graph at hand; executables made before do not count."""
    return Fence("graph", _handle(graph), source)


class SourceInfo(NamedTuple):
    """What is known of a source."""

    name: str
    version: str
    #: The plug-in's file; "" for what is built in.
    path: str
    #: A few words, such as "host memory, jemalloc".
    description: str
    #: Of "blocks", "ranges", "copy", "scatter", "fence", "encode", "export",
    #: "host_access" (the host reads and writes its memory) and "graph".
    can: frozenset[str]
    #: Bytes; what ranges are mapped in. 0: it has no ranges.
    granule: int
    #: Bytes of memory that it can give; 0: unknown.
    memory_bytes: int
    #: Bytes of memory that wait for their fences.
    retired_bytes: int
    #: Items that do.
    retired_items: int
    #: Steps that were given up because the driver was gone.
    dropped_items: int
    #: Pools, arenas, ranges and fences of the library's that stand on it.
    holders: int
    location_count: int
    home_location: int


class RangeInfo(NamedTuple):
    """What a range holds."""

    base: int
    #: Usable bytes.
    used_bytes: int
    #: Bytes of memory mapped.
    committed_bytes: int
    #: Chunks made ahead of need, mapped nowhere.
    prepared_bytes: int
    reserved_bytes: int
    #: Of addresses that moves left behind.
    old_bytes: int
    granule: int
    chunk_count: int
    #: Grows with each change of chunks.
    epoch: int
    #: How many grows there were by each path of RangeResult.
    grows: dict[str, int]


class RangeResult(NamedTuple):
    """What a call on a range did."""

    #: "none": there was room; "in place": into the addresses reserved;
    #: "adjacent": their neighbours were reserved too; "moved".
    path: str
    base: int
    #: The base before the call; another one only when path is "moved".
    old_base: int
    #: Usable bytes.
    used_bytes: int
    #: Bytes of memory mapped.
    committed_bytes: int
    #: Bytes that this call took away, at once or when its fences pass.
    released_bytes: int
    #: Calls into the source that this call made.
    source_calls: int


class ArenaStats(NamedTuple):
    """What an arena holds and did."""

    #: "shared" or "isolated", on the heap; "range".
    kind: str
    live_blocks: int
    #: Released ones whose fences have not passed.
    waiting_blocks: int
    #: Calls that were refused.
    refusals: int
    #: On a range: bytes of memory under it now.
    committed_bytes: int
    #: And the most there were.
    peak_committed_bytes: int
    #: On a range: its addresses.
    reserved_bytes: int
    #: On a range: times that memory was put under blocks.
    commits: int
    #: And taken away.
    releases: int
    #: Bytes of the library's records for it.
    bookkeeping_bytes: int


class ArenaFragmentation(NamedTuple):
    """How well an arena uses its memory, in bytes."""

    #: Of blocks, as jemalloc rounds them up.
    allocated_bytes: int
    #: Of pages that have blocks in them.
    active_bytes: int
    #: Of pages that jemalloc keeps for the next block.
    kept_bytes: int
    #: Of jemalloc's records for it, in host memory.
    record_bytes: int
    #: Of memory: the chunks of a range, or resident pages.
    committed_bytes: int


class TensorMapCacheStats(NamedTuple):
    """What a cache of tensor maps did and has."""

    slots: int
    #: Maps that are there.
    maps: int
    #: Those of them that somebody holds.
    held: int
    #: Gets that found their map, also those that waited for it.
    hits: int
    #: Gets that encoded it, or tried to.
    misses: int
    #: Gets that waited for another thread to encode it.
    waits: int
    #: Maps that went for others.
    evictions: int
    #: Maps that invalidate() forgot.
    invalidations: int
    #: Gets that were refused.
    refusals: int


class TableInfo(NamedTuple):
    """What a table of tensor maps has and did."""

    #: Of device slot 0.
    base: int
    max_slots: int
    #: Slots that have memory: the sum of leased, waiting and free.
    slots: int
    leased: int
    #: Retired, and not to be had yet.
    waiting: int
    #: Of leased and waiting: those that belong to a graph.
    in_graphs: int
    #: Maps that fit in staging.
    staging_slots: int
    #: And those of them in use.
    staging_used: int
    #: Calls that queued something.
    publishes: int
    #: And the slots in them.
    published_slots: int
    rewrites: int
    #: Copies that these queued.
    copies: int
    #: And kernels.
    scatters: int
    #: Publishes that copied slots one by one, as staging was full.
    staging_full: int
    #: Times that it grew.
    grows: int
    #: Bytes of memory on the device.
    device_bytes: int
    #: And on the host, staging included.
    host_bytes: int
    #: Scattered slots take one kernel.
    scatters_by_kernel: bool
    #: The device reads host slots and staging where they are.
    host_is_reached: bool
    #: What was queued without a fence that could be made: not had again.
    unfenced: int


class TableSlot(NamedTuple):
    """A leased slot of a table, as it is."""

    #: It is at table.address + 128 * index.
    index: int
    #: Of the device slot.
    address: int
    #: "empty", "encoded" (on the host), "published", or "in hand" of a thread.
    state: str
    #: No map was published at this address before this lease.
    fresh: bool
