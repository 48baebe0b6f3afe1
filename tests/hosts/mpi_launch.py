"""Starts MPI programs on hosts that are namespaces of the network (hosts.py), by the launchers of
the MPIs themselves, which know nothing of that: what they take for ssh goes there."""
import os

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent")
NETWORK, FIRST = "10.213.7.0/24", "10.213.7.1"


def _openmpi(hosts, ranks, survives, by_node):
    words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
             "--host", hosts, "-n", str(ranks)]
    settings = {"plm_rsh_agent": AGENT, "oob_tcp_if_include": NETWORK, "pml": "ob1",
                "btl": "tcp,vader,self", "btl_tcp_if_include": NETWORK, "topo": "basic",
                "mpi_yield_when_idle": str(int(ranks > os.cpu_count()))}
    for name, value in settings.items():
        words += ["--mca", name, value]
    return words + (["--map-by", "node"] if by_node else []) + (["--enable-recovery"] if survives else [])


def _mpich(hosts, ranks, survives, by_node):
    if by_node:
        names = [each.split(":")[0] for each in hosts.split(",")]
        hosts = ",".join(f"{name}:1" for name in names)
    words = ["mpirun.mpich", "-localhost", FIRST, "-launcher", "ssh", "-launcher-exec", AGENT,
             "-hosts", hosts, "-n", str(ranks), "-genv", "UCX_TLS", "tcp,sm,self",
             "-genv", "UCX_NET_DEVICES", "eth0"]
    return words + (["-disable-auto-cleanup"] if survives else [])


def words(mpi, hosts, per_host, command, environment, survives=False, by_node=False):
    """The command that starts so many ranks on each host. `survives`: though one of them dies. `by_node`: ranks
    in a row are on different hosts."""
    listed = ",".join(f"{name}:{per_host}" for name in hosts.names)
    launch = {"openmpi": _openmpi, "mpich": _mpich}[mpi]
    start = launch(listed, per_host * len(hosts.names), survives, by_node)
    for name, value in environment.items():
        start += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, str(value)]
    first = hosts.names[0]
    return ["ip", "netns", "exec", first, "unshare", "--uts", "--ipc", "sh", "-c",
            'hostname "$0"; exec "$@"', first, *start, *command]
