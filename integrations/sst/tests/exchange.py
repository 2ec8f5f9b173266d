"""A system for SST: endpoints that exchange requests, by a plan in a file that the environment names."""

import json
import os
from pathlib import Path

import sst

plan = json.loads(Path(os.environ["HOPSIM_SST_PLAN"]).read_text(encoding="utf-8"))
network = sst.Component("network", "hopsim.network")
network.addParams({"document": plan["document"], "results": plan["results"]})
for number, sends in enumerate(plan["sends"]):
    endpoint = sst.Component(f"endpoint{number}", "hopsimtest.exchange")
    expected = sum(send[1] == number for all_sends in plan["sends"] for send in all_sends)
    endpoint.addParams({"sends": str([value for send in sends for value in send]), "expected": expected})
    interface = endpoint.setSubComponent("networkIF", "hopsim.endpoint")
    interface.addParams({"output_buf_size": plan["buffer"]})
    link = sst.Link(f"link{number}")
    link.connect((interface, "rtr_port", plan["latency"]), (network, f"port{number}", plan["latency"]))
