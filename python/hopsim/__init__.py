"""hopsim: a cycle-accurate simulator of lossless interconnection networks.

```python
import hopsim as hs

result = hs.run("dragonfly1056", load=0.4)
result.summary["accepted_load"]

table = hs.sweep("dragonfly1056", load=[0.1, 0.2, 0.3]).table
```
"""

# It acts before the other imports.
import importlib
from typing import TYPE_CHECKING, Any

from hopsim import starting as _starting  # noqa: F401  # pyright: ignore[reportUnusedImport]
from hopsim._core import version as _version

if TYPE_CHECKING:
    from hopsim.document.experiment import Experiment
    from hopsim.errors import ConfigError, HopsimWarning, NotRecordedError, RunError, SweepError
    from hopsim.insight.paraver import write_paraver
    from hopsim.insight.perfetto import write_perfetto
    from hopsim.results.result import Result, Results
    from hopsim.results.store import load
    from hopsim.runs.checking import check
    from hopsim.runs.function import Head, Output
    from hopsim.runs.packet_trace import trace_packets
    from hopsim.runs.saturation import saturate
    from hopsim.runs.simulation import Message, Simulation
    from hopsim.runs.slowdowns import interference
    from hopsim.runs.sweeps import run, sweep
    from hopsim.runs.topologies import Topology, topology

__version__ = _version()

__all__ = [
    "ConfigError",
    "Experiment",
    "Head",
    "HopsimWarning",
    "Message",
    "NotRecordedError",
    "Output",
    "Result",
    "Results",
    "RunError",
    "Simulation",
    "SweepError",
    "Topology",
    "check",
    "interference",
    "load",
    "run",
    "saturate",
    "sweep",
    "topology",
    "trace_packets",
    "write_paraver",
    "write_perfetto",
]

# Tables, figures and consoles take half a second to import: each name is imported when it is first used. No
# module has the name of something that it holds, or it would stand in its place here.
_PLACES = {
    "ConfigError": "errors",
    "Experiment": "document.experiment",
    "Head": "runs.function",
    "HopsimWarning": "errors",
    "Message": "runs.simulation",
    "NotRecordedError": "errors",
    "Output": "runs.function",
    "Result": "results.result",
    "Results": "results.result",
    "RunError": "errors",
    "Simulation": "runs.simulation",
    "SweepError": "errors",
    "Topology": "runs.topologies",
    "check": "runs.checking",
    "interference": "runs.slowdowns",
    "load": "results.store",
    "run": "runs.sweeps",
    "saturate": "runs.saturation",
    "sweep": "runs.sweeps",
    "topology": "runs.topologies",
    "trace_packets": "runs.packet_trace",
    "write_paraver": "insight.paraver",
    "write_perfetto": "insight.perfetto",
}


def __getattr__(name: str) -> Any:  # pyright: ignore[reportUnusedFunction]
    """What `__all__` names, imported when it is first asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:  # pyright: ignore[reportUnusedFunction]
    """What is here already, and what would be imported."""
    return sorted({*globals(), *__all__})
