"""A throw-away Slurm cluster of three nodes on one machine, for tests.

Needs Debian's packages slurm-wlm and munge, which bring munged, slurmctld and slurmd; no systemd,
slurmdbd, GPU or root. Keys, sockets, spool and logs lie in one folder, and only processes that
were started here, and their descendants, are ever signalled.

    with Cluster() as cluster:
        subprocess.run(["srun", "--gpus=1", "hostname"], env=cluster.environment())
        cluster.power_off("rig")
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "sinfo")
START_SECONDS = 180.0  # the daemons are up within 2 s on an idle machine
# Debian puts the daemons where only root looks.
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])

# The step daemons leave slurmd's process tree. A parent that marks itself as child subreaper
# (prctl 36, Linux 3.4) adopts them, so that a node is one tree and can lose its power whole.
_KEEPER = """
import ctypes, os, subprocess, sys
ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)
subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@dataclass(frozen=True)
class Node:
    """One pretended host: its name, features for constraints, the type of its one GPU."""

    name: str
    features: str
    gpu: str


NODES = (
    Node("laptop", "roaming,vram12", "rtx5070ti"),
    Node("rig", "fixed,vram24", "rtx4090"),
    Node("rack", "fixed,vram12", "rtx3060"),
)


@dataclass(frozen=True)
class Job:
    """A job as squeue shows it; `node` is empty while it waits."""

    number: str
    state: str
    node: str
    comment: str
    restarts: int


def missing_programs() -> list[str]:
    """Return which of the programs that the cluster needs aren't installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


class Cluster:
    """The cluster; a context manager that starts it and stops it.

    A node is lost when it has been silent for `node_timeout` seconds. A job that lost its node
    waits for `requeue_seconds` before it starts again (Slurm's `cred_expire`, by default 120).
    """

    def __init__(
        self, nodes: tuple[Node, ...] = NODES, *, node_timeout: int = 10, requeue_seconds: int = 5
    ) -> None:
        self.nodes = nodes
        # Short, since the path of a socket can have no more than 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="minislurm-"))
        self._node_timeout = node_timeout
        self._requeue_seconds = requeue_seconds
        self._port = _free_ports(len(nodes) + 1)
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._keepers: dict[str, subprocess.Popen[bytes]] = {}
        self._asleep: dict[str, list[psutil.Process]] = {}

    def __enter__(self) -> Cluster:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def environment(self) -> dict[str, str]:
        """Return the environment for programs that use the cluster."""
        path = os.pathsep.join([str(self.folder / "bin"), PATH])
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def start(self) -> None:
        """Start all daemons and wait until every node is idle. Raises TimeoutError."""
        self._write_config()
        folder = self.folder
        self._daemon(
            *("munged", "--foreground", "--force", f"--socket={folder}/munge/sock"),
            *(f"--key-file={folder}/munge/key", f"--pid-file={folder}/munge/pid"),
            *(f"--seed-file={folder}/munge/seed", f"--log-file={folder}/munge/log"),
        )
        _wait(lambda: (folder / "munge" / "sock").exists(), "munged is up")
        self._daemon("slurmctld", "-D", "-c", "-f", str(folder / "slurm.conf"))
        for node in self.nodes:
            self.power_on(node.name)
        _wait(lambda: set(self.states().values()) <= {"idle"}, "all nodes are idle")

    def stop(self) -> None:
        """Kill everything that was started and remove the folder."""
        for name in list(self._keepers):
            self.power_off(name)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def power_on(self, name: str) -> None:
        """Start a node."""
        command = ["slurmd", "-D", "-c", "-f", str(self.folder / "slurm.conf"), "-N", name]
        self._keepers[name] = self._spawn(name, [sys.executable, "-c", _KEEPER, *command])

    def power_off(self, name: str) -> None:
        """Cut a node's power: everything on it is gone at once."""
        keeper = self._keepers.pop(name)
        self._asleep.pop(name, None)
        while processes := _descendants(keeper.pid):
            for process in processes:
                _send(process, signal.SIGKILL)
            time.sleep(0.02)
        keeper.kill()
        keeper.wait()

    def suspend(self, name: str) -> None:
        """Put a node to sleep in the midst of what it does."""
        stopped: list[psutil.Process] = []
        # Once more for what a process started before its turn came.
        while new := [p for p in _descendants(self._keepers[name].pid) if p not in stopped]:
            for process in new:
                _send(process, signal.SIGSTOP)
            stopped += new
        self._asleep[name] = stopped

    def wake(self, name: str) -> None:
        """Let a node that sleeps go on where it was."""
        for process in self._asleep.pop(name):
            _send(process, signal.SIGCONT)

    def restore(self) -> None:
        """Bring every node back and wait until all are idle. Raises TimeoutError."""
        for name in list(self._asleep):
            self.wake(name)
        for node in self.nodes:
            if node.name not in self._keepers:
                self.power_on(node.name)
        self._ask("scancel", "--user", getpass.getuser())
        _wait(lambda: set(self.states().values()) <= {"idle"}, "all nodes are idle again")

    def states(self) -> dict[str, str]:
        """Return the state of each node: idle, mixed, allocated, down, `unknown` without answer."""
        answer = self._ask("sinfo", "--noheader", "--Node", "--format", "%N %T")
        found = dict(line.split() for line in answer.splitlines())
        return {node.name: found.get(node.name, "unknown").rstrip("*") for node in self.nodes}

    def jobs(self) -> list[Job]:
        """Return all jobs that the controller remembers, finished ones included."""
        columns = "JobID:|,State:|,NodeList:|,RestartCnt:|,Comment:"
        answer = self._ask("squeue", "--noheader", "--states=all", "--Format", columns)
        jobs = []
        for line in answer.splitlines():
            number, state, node, restarts, comment = line.split("|", 4)
            jobs.append(Job(number, state, node, comment.strip(), int(restarts)))
        return jobs

    def history(self) -> list[dict[str, str]]:
        """Return what the controller noted of each finished run of a job, as NAME=VALUE pairs."""
        try:
            lines = (self.folder / "log" / "jobcomp.txt").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [dict(p.split("=", 1) for p in line.split() if "=" in p) for line in lines]

    def _ask(self, *command: str) -> str:
        run = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        return run.stdout

    def _daemon(self, *command: str) -> None:
        self._daemons.append(self._spawn(command[0], list(command)))

    def _spawn(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        with open(self.folder / "log" / f"{name}.out", "ab") as out:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self.environment(),
                start_new_session=True,
            )

    def _write_config(self) -> None:
        for name in ("munge", "spool", "state", "log", "dev", "bin"):
            (self.folder / name).mkdir(mode=0o700)
        key = self.folder / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        (self.folder / "slurm.conf").write_text(self._slurm_conf())
        lines = []
        for node in self.nodes:
            # Without a device file Slurm counts no GPU and drains the node; any file will do.
            device = self.folder / "dev" / node.name
            device.touch()
            lines.append(f"NodeName={node.name} Name=gpu Type={node.gpu} File={device}\n")
        (self.folder / "gres.conf").write_text("".join(lines))
        # The plugin's job step drops SLURM_CONF from the environment of its srun.
        srun = self.folder / "bin" / "srun"
        real = shutil.which("srun", path=PATH)
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {real} "$@"\n')
        srun.chmod(0o755)

    def _slurm_conf(self) -> str:
        folder, port, me = self.folder, self._port, getpass.getuser()
        host = socket.gethostname().partition(".")[0]
        lines = [
            "ClusterName=mini",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={port}",
            f"SlurmUser={me}",
            f"SlurmdUser={me}",
            "AuthType=auth/munge",
            "CredType=cred/munge",
            f"AuthInfo=socket={folder}/munge/sock,cred_expire={self._requeue_seconds}",
            f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/spool/%n",
            f"SlurmctldPidFile={folder}/state/slurmctld.pid",
            f"SlurmdPidFile={folder}/state/slurmd-%n.pid",
            f"SlurmctldLogFile={folder}/log/slurmctld.log",
            f"SlurmdLogFile={folder}/log/slurmd-%n.log",
            # No cgroups and no root: children are followed by process group.
            "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none",
            # No slurmdbd: finished jobs stay visible to squeue for MinJobAge seconds.
            "AccountingStorageType=accounting_storage/none",
            "JobCompType=jobcomp/filetxt",
            f"JobCompLoc={folder}/log/jobcomp.txt",
            "MinJobAge=600",
            "GresTypes=gpu",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core_Memory",
            "SchedulerType=sched/backfill",
            "SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0",
            f"SlurmdTimeout={self._node_timeout}",
            "SlurmctldTimeout=30",
            "InactiveLimit=0",
            "KillWait=2",
            "JobRequeue=1",
            "ReturnToService=2",
            "MailProg=/bin/true",
            # Nodes claim more processors and memory than this machine may have.
            "SlurmdParameters=config_overrides",
        ]
        for number, node in enumerate(self.nodes, start=1):
            lines.append(
                f"NodeName={node.name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + number} "
                f"CPUs=1 RealMemory=16000 Feature={node.features} Gres=gpu:{node.gpu}:1"
            )
        lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
        return "\n".join(lines) + "\n"


def _free_ports(count: int) -> int:
    """Return the first of `count` ports in a row that nobody listens on."""
    for first in range(26_817 + os.getpid() % 1000, 32_000, count):
        with socket.socket() as probe:
            if all(probe.connect_ex(("127.0.0.1", first + i)) for i in range(count)):
                return first
    raise OSError("no free ports for the cluster")


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        found = psutil.Process(pid).children(recursive=True)
        return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return  # it ended by itself


def _wait(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {START_SECONDS:.0f} s: {what}")
        time.sleep(0.2)
