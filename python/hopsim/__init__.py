"""hopsim: a cycle-accurate simulator of lossless interconnection networks.

```python
import hopsim as hs

result = hs.run("dragonfly1056", load=0.4)
result.summary["accepted_load"]

table = hs.sweep("dragonfly1056", load=[0.1, 0.2, 0.3]).table
```
"""

# It acts before the other imports.
from hopsim import starting as _starting  # noqa: F401  # pyright: ignore[reportUnusedImport]
from hopsim._core import version as _version
from hopsim.errors import ConfigError, HopsimWarning, NotRecordedError, RunError, SweepError
from hopsim.experiment import Experiment
from hopsim.interference import interference
from hopsim.packet_trace import trace_packets
from hopsim.perfetto import write_perfetto
from hopsim.results import Result, Results
from hopsim.saturation import saturate
from hopsim.simulation import Message, Simulation
from hopsim.store import load
from hopsim.sweep import run, sweep

__version__ = _version()

__all__ = [
    "ConfigError",
    "Experiment",
    "HopsimWarning",
    "Message",
    "NotRecordedError",
    "Result",
    "Results",
    "RunError",
    "Simulation",
    "SweepError",
    "interference",
    "load",
    "run",
    "saturate",
    "sweep",
    "trace_packets",
    "write_perfetto",
]
