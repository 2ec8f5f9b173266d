"""Runs a command and writes what it used to a file: `python -I -S child.py FILE COMMAND…`.

A process of its own, because a child's peak memory on Linux is at least that of the process that starts it.
"""

import json
import resource
import subprocess
import sys
import time


def main() -> int:
    """Exit with the command's status."""
    began = time.monotonic()
    status = subprocess.run(sys.argv[2:], check=False).returncode
    wall_s = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    record = {
        "wall_s": wall_s,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * unit,
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123 (pathlib is slow to import)
        json.dump(record, file)
    return min(abs(status), 255)


if __name__ == "__main__":
    sys.exit(main())
