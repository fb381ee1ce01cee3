# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
"""Tables of tensor maps, on host memory and on the simulated driver."""

import ctypes
import types

import pytest

import ashlar
from ashlar import QUIET, SpecError, Status, TensorMap, TensorMapTable

BASE = 0x7F0000000000


@pytest.fixture
def table(device):
    with TensorMapTable(device, max_slots=256) as table:
        yield table


def on_device(table, index):
    """What the device has there: the simulated one's memory can be read."""
    return ctypes.string_at(table.address + 128 * index, 128)


def specs_of(spec, n):
    return [spec.replace(address=BASE + 4096 * i) for i in range(n)]


def test_maps_are_published_index_for_index(table, device, spec):
    lease = table.lease(10)
    specs = specs_of(spec, 10)
    lease.encode(specs)
    assert [slot.state for slot in lease] == ["encoded"] * 10
    lease.publish(0)
    assert {slot.state for slot in lease} == {"published"}
    for i, index in enumerate(lease.indices):
        right = bytes(TensorMap(device, specs[i]))
        assert on_device(table, index) == right == lease.map(i)
        assert lease[i].address == table.address + 128 * index
    info = table.info()
    assert (info.leased, info.publishes, info.published_slots) == (10, 1, 10)
    assert info.base == table.address == int(table)


def test_a_table_and_a_lease_tell_what_they_are(table, spec):
    lease = table.lease()
    assert len(lease) == 1 and lease.table is table and not lease.retired
    assert lease[0] == (0, table.address, "empty", True)
    assert lease[-1] == lease[0]
    assert repr(lease) == "<ashlar.TableLease of 1 slots>"
    assert repr(table).startswith(
        f"<ashlar.TensorMapTable at {table.address:#x}: 1 leased of ")
    for outside in (1, -2, 1 << 70):
        with pytest.raises(IndexError):
            lease[outside]
        with pytest.raises(IndexError):
            lease.map(outside)
        with pytest.raises(IndexError):
            lease.encode([spec], [outside])
    with pytest.raises(TypeError):
        ashlar.TableLease()
    with pytest.raises(TypeError):
        TensorMapTable("cuda")


def test_parts_are_encoded_and_published(table, device, spec, raises):
    lease = table.lease(10)
    specs = specs_of(spec, 10)
    lease.encode([specs[7], specs[2]], which=[7, 2])
    raises(Status.INVALID, lease.publish, 0)
    lease.publish(0, which=[7, 2])
    assert on_device(table, lease.indices[7]) == bytes(
        TensorMap(device, specs[7]))
    assert [i for i in range(10) if lease[i].state == "published"] == [2, 7]
    raises(Status.BUSY, lease.publish, 0, [7])
    raises(Status.BUSY, lease.encode, [spec], [2])
    raises(Status.BUSY, lease.encode, [spec, spec], [3, 3])
    raises(Status.INVALID, lease.map, 4)
    said = raises(Status.INVALID, lease.encode, specs[:3])
    assert "3 specs for 10 slots" in said
    for wrong in ([1], spec):
        with pytest.raises(TypeError):
            lease.encode(wrong, [0])
    with pytest.raises(TypeError):
        lease.publish("stream")


def test_a_wrong_spec_says_which(table, spec):
    lease = table.lease(3)
    wrong = spec.replace(strides=[2050])
    with pytest.raises(SpecError) as caught:
        lease.encode([spec, wrong, spec])
    assert caught.value.index == 1
    assert {slot.state for slot in lease} == {"empty"}


def test_maps_from_elsewhere_are_filled_in(table, device, spec, raises):
    lease = table.lease(3)
    one = TensorMap(device, spec)
    cache = ashlar.TensorMapCache(device, slots=4)
    lease.fill(0, one)
    lease.fill(1, cache.get(spec))
    lease.fill(2, bytes(one))
    assert {lease.map(i) for i in range(3)} == {bytes(one)}
    raises(Status.INVALID, lease.fill, 0, bytes(127))
    with pytest.raises(TypeError):
        lease.fill(0, spec)


def test_a_published_slot_is_rewritten(table, device, spec, raises):
    lease = table.lease(2)
    other = TensorMap(device, spec.replace(address=BASE + 4096))
    raises(Status.INVALID, lease.rewrite, 0, other, 0)
    lease.encode([spec, spec])
    lease.publish(0)
    lease.rewrite(1, other, 0)
    assert lease.map(1) == bytes(other) == on_device(table, lease.indices[1])
    assert lease.map(0) == on_device(table, lease.indices[0]) != bytes(other)
    assert table.info().rewrites == 1


def test_slots_go_back(table, spec, raises):
    lease = table.lease(5, run=True)
    assert lease.indices == tuple(range(5))
    lease.retire()
    assert lease.retired and repr(lease).endswith(", retired>")
    for call in (lease.retire, lambda: lease[0], lambda: lease.map(0),
                 lambda: lease.indices, lambda: lease.encode([spec] * 5),
                 lambda: lease.publish(0), lease.__enter__,
                 lambda: lease.fill(0, bytes(128)),
                 lambda: lease.retire(after=QUIET),
                 lambda: lease.rewrite(0, bytes(128), 0)):
        assert "this lease was retired" in raises(Status.NOT_LIVE, call)
    with table.lease(3) as lease:
        assert table.info().leased == 3
    assert table.info().leased == 0
    table.lease(7)
    assert table.info().leased == 0
    table.lease(4).retire(after=[QUIET])
    assert table.info().leased == 0
    assert len(table.lease(0)) == 0


def test_slots_wait_for_the_work_that_reads_them(device, simulated, spec):
    simulated.context()
    stream = simulated.stream()
    table = TensorMapTable(device, max_slots=64,
                           at_end=ashlar.after(stream.value))
    lease = table.lease(4)
    lease.encode([spec] * 4)
    lease.publish(types.SimpleNamespace(cuda_stream=stream.value))
    simulated.touch(stream, table.address, 512)
    lease.retire(after=ashlar.after(stream.value))
    dropped = table.lease(2)
    del dropped
    assert table.info().waiting == 6
    simulated.finish(stream)
    assert table.info().waiting == 0
    table.close()
    simulated.call("cuStreamDestroy_v2", stream)
    device.close()


def test_a_table_grows_where_it_is(table, spec, raises):
    address = table.address
    table.reserve(100)
    grows = table.info().grows
    leases = [table.lease(20) for _ in range(5)]
    assert table.info().grows == grows and table.address == address
    raises(Status.LIMIT, table.lease, 157)
    raises(Status.LIMIT, table.reserve, 157)
    raises(Status.INVALID, table.lease, -1)
    raises(Status.INVALID, table.lease, 1 << 40)
    assert table.info().leased == 100 == sum(map(len, leases))


def test_close_says_what_is_leased(table, device, raises):
    lease = table.lease(3)
    assert "1 lease:" in raises(Status.BUSY, table.close)
    assert "1 table:" in raises(Status.BUSY, device.close)
    lease.retire()
    table.close(after=QUIET)
    table.close()
    assert table.closed
    assert repr(table) == "<ashlar.TensorMapTable, closed>"
    for call in (table.lease, lambda: table.reserve(1), table.info,
                 lambda: table.address, table.__enter__):
        assert "table was closed" in raises(Status.STALE, call)
    device.close()


def test_a_with_gives_the_table_up_with_its_last_lease(device, spec, raises):
    with TensorMapTable(device, max_slots=16) as table:
        lease = table.lease(2)
    raises(Status.STALE, table.lease)
    lease.encode([spec, spec])
    lease.publish(0)
    raises(Status.BUSY, device.close)
    del lease
    device.close()


def test_host_slots_lie_where_the_device_reads_them(device, simulated, spec,
                                                    raises):
    host = ashlar.Source("cuda", {"driver": simulated.path,
                                  "location": "host"})
    table = TensorMapTable(device, max_slots=64, host=host)
    assert table.info().host_is_reached
    assert "1 table:" in raises(Status.BUSY, host.close)
    lease = table.lease(2)
    lease.encode([spec, spec])
    lease.publish(0)
    assert on_device(table, 1) == lease.map(1)
    lease.retire()
    table.close()
    host.close()
    raises(Status.UNSUPPORTED, TensorMapTable, device, host=device)
    raises(Status.STALE, TensorMapTable, device, host=host)


def test_a_source_without_an_encoder_has_tables_too(vm, device, spec, raises):
    table = TensorMapTable(vm, max_slots=64)
    lease = table.lease(2)
    raises(Status.UNSUPPORTED, lease.encode, [spec, spec])
    lease.fill(0, bytes(range(128)))
    lease.publish(0, [0])
    assert on_device(table, lease.indices[0]) == bytes(range(128))
    raises(Status.UNSUPPORTED, TensorMapTable, ashlar.Source("heap"))
    raises(Status.INVALID, TensorMapTable, vm, max_slots=1 << 30)


def test_threads_share_a_table(table, spec, in_threads):
    def work(number):
        for n in range(100):
            lease = table.lease(1 + n % 8)
            lease.encode(specs_of(spec, len(lease)))
            lease.publish(0)
            assert lease.map(0) == on_device(table, lease.indices[0])

    in_threads(4, work)
    assert table.info().leased == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork_the_parents_table_is_refused(vm, child, raises):
    table = TensorMapTable(vm, max_slots=64)
    lease = table.lease(2)

    def work():
        raises(Status.FORKED, table.lease, 1)
        lease.retire()

    assert child(work) == 0
    assert table.info().leased == 2 and len(lease) == 2
