"""Local ranks of several nodes, over each network, and what is refused."""
import threading

import numpy as np
import pytest

import colldsl


@pytest.fixture
def nodes(monkeypatch):
    monkeypatch.setenv("COLLDSL_RANKS_PER_NODE", "2")


def total(comm):
    x, y = np.full(1000, comm.rank + 1), np.zeros(1000, dtype=int)
    with comm.plan("allreduce", x, y) as plan:
        for _ in range(3):
            plan.run(20)
    return int(y[0]), int(y[-1])


def local(network):
    try:
        return colldsl.Communicator.local(4, network=network)
    except colldsl.SetupError as error:
        if network != "verbs":
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("network", ["ofi", "verbs", "datagram", "datagram{multicast=0}", "tcp"])
def test_each_network(nodes, network):
    with local(network) as ranks:
        assert ranks.run(total) == [(10, 10)] * 4


def test_the_environment_names_one(nodes, monkeypatch):
    monkeypatch.setenv("COLLDSL_NETWORK", "pigeons")
    with pytest.raises(colldsl.SetupError, match="COLLDSL_NETWORK: there is no network 'pigeons'"):
        colldsl.Communicator.local(4)
    monkeypatch.setenv("COLLDSL_NETWORK", "datagram")
    with colldsl.Communicator.local(4) as ranks:
        assert ranks.run(total) == [(10, 10)] * 4


def test_what_is_no_network():
    with pytest.raises(colldsl.ArgumentError, match="there is no network 'pigeons'; there are ofi"):
        colldsl.Communicator.local(2, network="pigeons")
    with pytest.raises(colldsl.ArgumentError, match="the network datagram has no option 'port'"):
        colldsl.Communicator.launched(network="datagram{port=7}")


def test_ranks_that_disagree(nodes):
    """Each gets the same error, which names both sides."""
    size, gathered, barrier = 2, [b""] * 2, threading.Barrier(2)
    errors = [None] * size

    def rank(number, network):
        def allgather(mine):
            barrier.wait(20)
            gathered[number] = mine
            barrier.wait(20)
            return b"".join(gathered)

        try:
            colldsl.Communicator.from_allgather(number, size, allgather, network=network)
        except colldsl.SetupError as error:
            errors[number] = str(error)

    threads = [threading.Thread(target=rank, args=pair) for pair in enumerate(["ofi", "datagram"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = (
        "rank 0 and rank 1 disagree on the network: ofi{provider=tcp} on rank 0, "
        "datagram{multicast=1} on rank 1"
    )
    assert errors == [text] * size
