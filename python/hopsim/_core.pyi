"""Types of the compiled module: the Rust simulator seen from Python."""

from collections.abc import Callable, Sequence

class ConfigError(ValueError):
    """Bad input; `str()` is the complete message: key, value, reason, what would be valid."""

class RunError(RuntimeError):
    """A simulation stopped before its end, for example in a deadlock."""

class Cancelled(Exception):  # noqa: N818
    """A simulation stopped because `Monitor.cancel` was called."""

class Monitor:
    """Progress of one simulation, shared between threads."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Ask the simulation to stop; `run` then raises `Cancelled`."""

    def allow_memory(self, bytes: int) -> None:  # noqa: A002 (as the compiled module calls it)
        """Say how much memory there is for the simulation, before it begins [bytes]."""

    def save(self) -> None:
        """Ask for the state of the simulation, which `run_saved` then hands over soon."""

    @property
    def done(self) -> int:
        """How much of the simulation is done: cycles, or ticks of a fabric."""

    @property
    def total(self) -> int:
        """How much that will be, which a run that stops by itself may raise; 0 before it starts."""

    @property
    def threads_used(self) -> int:
        """How many threads the simulation has used at most; 0 if never several."""

    @property
    def waited(self) -> float:
        """Share of their time that several threads have waited for each other; 0 if there were none."""

    @property
    def packet_hops(self) -> int:
        """Hops that packets have made so far."""

class Run:
    """What one simulation measured."""

    @property
    def summary(self) -> str:
        """The summary record, a flat JSON object."""

    @property
    def jobs(self) -> str:
        """A JSON list with one summary record per job, `job` first."""

    @property
    def tables(self) -> dict[str, dict[str, tuple[str, bytes | list[str] | tuple[list[str], bytes]]]]:
        """Table name -> column name -> (numpy type or "str", little-endian bytes or strings).

        A column of few names in many rows is ("u1", (names, the place of each row's among them)).
        """

class Simulation:
    """A simulation of one point, which goes on only when it is told to.

    Its calls wait for each other, whatever threads they are from.
    """

    def __init__(self, config_json: str, threads: int) -> None:
        """At cycle 0, on so many threads at most.

        Raises `ConfigError`, and what the handler of a signal raises.
        """

    @property
    def now(self) -> int:
        """The present cycle."""

    @property
    def in_flight(self) -> int:
        """Messages that are not there."""

    @property
    def nodes(self) -> list[int]:
        """The nodes that are driven, job by job in the order of ranks."""

    def waiting(self, node: int) -> int:
        """Messages that wait at a node: some packet of them has still to be admitted.

        Raises `ConfigError`.
        """

    def cycles(self, picoseconds: int) -> int:
        """The first cycle that begins so many picoseconds after cycle 0, or later.

        Raises `ConfigError`.
        """

    def picoseconds(self, cycle: int) -> int:
        """The picosecond in which a cycle begins, counted from cycle 0.

        Raises `ConfigError`.
        """

    def phits(self, bytes: int) -> int:  # noqa: A002 (as the compiled module calls it)
        """The length of a message with so many bytes, without headers.

        Raises `ConfigError`.
        """

    def inject(self, nodes: tuple[int, int], phits: int, tag: int) -> int:
        """Inject a message from one node to another in the present cycle; returns its number.

        Raises `ConfigError`.
        """

    def step(self, cycles: int) -> None:
        """Simulate so many cycles.

        Raises `ConfigError`, `RunError`, and what the handler of a signal raises.
        """

    def step_until_delivered(self, most: int) -> bool:
        """Simulate until a message is there that `delivered` has not returned, or so many cycles.

        Returns whether there is one. Raises as `step` does.
        """

    def delivered(self) -> list[tuple[int, int, int, int, int, int, int]]:
        """Messages that are there and that no call has returned, by cycle of delivery and number.

        Number, tag, source, destination, phits, cycle of injection, cycle of delivery.
        """

    def results(self) -> Run:
        """What has been measured; ends the simulation. Raises `ConfigError`."""

def version() -> str:
    """Version of the simulator with a digest of its sources: what results are filed under."""

def survey(config: str) -> str:
    """What can be said of the network of a resolved configuration before it runs, as JSON.

    `nodes`, `routers`, `links` (pairs of class and number), `diameter` (at least that, if `sampled`),
    `mean_distance` [links], `cut` (links of the best cut found between halves of the nodes: an upper bound of
    the bisection), `longest_path` [links], `decides`, `input_vcs`, `ports` and `output_vcs` of all routers,
    `state_bytes`; of a fabric `packet_hops` (expected; null elsewhere), `set_up_steps` (of some
    nanoseconds) and `series_rows` (0 elsewhere). Raises `ConfigError`, and what the handler of a signal
    raises.
    """

def topology_info(config: str) -> str:
    """Numbers of the topology of a resolved configuration, as JSON.

    `topology` (its name), `routers`, `routers_with_nodes`, `nodes`, `groups`, `links` between routers,
    `links_by_class`, `degree_min` and `degree_max` (links of a router), `diameter`, `diameter_with_nodes` (of
    routers with nodes), `mean_distance` (over ordered pairs of different routers) [links] and
    `bisection_upper_bound` (links of the best cut found between halves of the nodes). Raises `ConfigError`,
    and what the handler of a signal raises.
    """

def topology_links(config: str) -> list[tuple[int, int, str]]:
    """The links between routers of a resolved configuration, each once: two routers and the class.

    By class, then by router and port of the router with the lower number. Raises `ConfigError`, and what the
    handler of a signal raises.
    """

def deadlock(config: str) -> str | None:
    """Whether packets of a resolved configuration can wait for each other in a circle, in words.

    `free of deadlock: …`, `can deadlock: …`, `deadlock not excluded: …` or `deadlock not looked for: …`;
    `None` where there are no routers. Raises `ConfigError`, and what the handler of a signal raises.
    """

def cut_off(config: str) -> list[str]:
    """From when to when which nodes cannot reach the others by a resolved configuration, in sentences.

    Raises `ConfigError`, and what the handler of a signal raises.
    """

def settled_placements(config: str) -> list[int]:
    """The jobs of a resolved configuration whose drawn placement is the same for every seed.

    Raises `ConfigError`.
    """

def columns() -> str:
    """Every column of the results with `table`, `name`, `unit` and `meaning`, as a JSON list."""

def schema() -> str:
    """JSON Schema of the experiment document; its descriptions are the documentation."""

def points(
    text: str,
    name: str,
    overrides: list[tuple[str, str]],
    files: tuple[
        Callable[[str], str],
        Callable[[str, str], list[list[int]]],
        Callable[[str], list[int]],
        Callable[[str], str],
        Callable[[str], str],
        Callable[[str], str],
        Callable[[str], bytes],
        Callable[[str], list[bytes]],
    ]
    | None = None,
) -> list[str]:
    """Resolved configuration of every point of a document, as JSON.

    `name` is the file named in messages; `overrides` are (path, TOML value) pairs; `files` are eight
    functions, which may raise: the network in a file as a JSON object, the forwarding tables in a file for
    the network in another one, the nodes in the file of a placement by rank, the packets in a file as a JSON
    list, the flows in a file as a JSON list, the table of routes in a file as a JSON object, what is in the
    file of a program, decompressed, and the same of the files of all ranks of a Chakra trace. Raises
    `ConfigError`, and what the handler of a signal raises.
    """

def axes(text: str, name: str, overrides: list[tuple[str, str]]) -> str:
    """JSON list of pairs: the sweep assignments {path: value} behind each point of `points`, and the names
    {path: name} of those values that have one.
    """

def saturate(text: str, name: str, overrides: list[tuple[str, str]]) -> str | None:
    """How a document asks to search for saturation, as JSON with all defaults; None if it does not."""

def branch_at(text: str, name: str, overrides: list[tuple[str, str]]) -> int | None:
    """The cycle up to which all points of a document share one run, None if each is run by itself."""

ChakraSetting = tuple[bytes | None, float | None]
"""The contents of the file of process groups, and operations per second."""

def program_info(files: list[bytes], chakra: ChakraSetting | None = None) -> str:
    """Totals of the program in a file, or in those of all ranks of a Chakra trace, as a JSON object.

    Files are decompressed. Raises `ConfigError`.

    `format`, `name`, `info` (key -> text), `ranks`, `records`, `messages`, `messages_to_self`, `bytes`
    (digits), `collectives`, `alltoall_bytes` (digits), `compute_mean` [ns], `least_time` [ns, or null].
    """

def convert_program(
    files: list[bytes],
    target: tuple[str, str],
    collectives: list[tuple[str, str]],
    chakra: ChakraSetting | None = None,
) -> bytes:
    """The same program in another format: `target` is `mpt`, `dimemas`, `goal` or `goal-binary`, and a name.

    Where that has no collective operations they become messages of the algorithms named by (kind, algorithm).
    Raises `ConfigError`.
    """

def paraver_files(
    config_json: str,
    job: str,
    cycle_ns: float,
    operations: tuple[Sequence[object], ...],
) -> tuple[bytes, str, str]:
    """What a run made of the program of a job, as the files `.prv`, `.pcf` and `.row` of Paraver.

    A cycle takes `cycle_ns`; `operations` are the columns rank, activity, record, begin and end of the table
    of that name. The file of a program must have been read in this process. Raises `ConfigError`.
    """

def run(
    config_json: str,
    monitor: Monitor,
    threads: int = 1,
    routing: Callable[..., int | None] | None = None,
) -> Run:
    """Simulate one point on so many threads at most with the GIL released.

    A function `routing` is asked for the numbers of outputs, see `hopsim.runs.function.Answers`. What it
    raises ends the run. Raises `RunError`, `Cancelled`.
    """

def run_saved(
    config_json: str,
    monitor: Monitor,
    threads: int,
    snapshot: bytes | None,
    keep: Callable[[bytes], object] | None = None,
    at: int | None = None,
) -> Run:
    """The same from a snapshot (None: from the beginning).

    Its state is handed to `keep` when `Monitor.save` asks for it and at cycle `at`. What `keep` raises ends
    the run. Raises `ConfigError` if the snapshot is of something else, or the run can have none.
    """

def trunk(configs: list[str], branch_at: int, monitor: Monitor, threads: int) -> bytes:
    """What all points of a sweep share that parts at some cycle, for `run_branch`.

    Raises `RunError`, `Cancelled`.
    """

def run_branch(config_json: str, monitor: Monitor, threads: int, trunk: bytes) -> Run:
    """Simulate one point of such a sweep from what it shares with the others.

    Raises `RunError`, `Cancelled`.
    """

def snapshot_cycle(snapshot: bytes) -> int:
    """The cycle with which a run goes on from a snapshot. Raises `ConfigError` if the bytes are none."""

def vc_paths(local: int, global_: int, reply_local: int, reply_global: int, network: str) -> dict[str, str]:
    """Kind of path -> `safe`, `opportunistic` or `impossible`; see `hopsim.document.paths.vc_paths`."""

def student_t(freedom: int, confidence: float) -> float:
    """Two-sided quantile of Student's t with `freedom` >= 1 degrees of freedom, 0 <= `confidence` < 1.

    Raises `ValueError` out of these ranges.
    """

def closest(word: str, names: list[str]) -> str | None:
    """Of the names known the one that was probably meant by `word`: a few letters differ, or else the two are
    alike from the start. Upper case counts as lower case, hyphens and spaces as underscores.
    """
