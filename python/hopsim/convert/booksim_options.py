"""The options of BookSim 2 (commit 28f4329), their defaults, and what hopsim has where it lacks them.

Options without a text here are carried over by `booksim.py`. The text of an option completes the sentence
"option = value …", which is told where a file sets another value than the default, or, with `differs`,
whatever the value is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Value = int | float | str


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes:
        default: what BookSim takes where a file says nothing. Its type is that of the option.
        instead: what hopsim has instead, where it has nothing of the kind.
        is_text: whether its value may be a text, too: a list, or a word such as `time`.
        differs: whether hopsim does something else than BookSim does by default.
    """

    default: Value
    instead: str = ""
    is_text: bool = False
    differs: bool = False


_PRINTS = "is about what BookSim prints; the document has no such key"
_POWER = "is about power, which hopsim does not model"
_REPLIES = "is about requests and replies, which the file does not have"
_SUBNETS = "is about several networks side by side, of which the document has one"
_SHARED = "is about shared buffers: in the document every VC of these has a reserve of its own, and no limit"
_BATCH = "is about batches, which the file does not send"
_CLASSES = "is about classes of traffic, of which the document has one"
_STEADY = "is about when BookSim ends: the document has the warm-up and window that it says"
_LEGACY = "has no effect in BookSim either"

OPTIONS: Mapping[str, Option] = {
    # The network.
    "topology": Option("torus"),
    "k": Option(8),
    "n": Option(2),
    "c": Option(1),
    "x": Option(8),
    "y": Option(8),
    "xr": Option(1),
    "yr": Option(1),
    "routing_function": Option("none"),
    "use_noc_latency": Option(1),
    "network_file": Option("", "is read with topology = anynet alone"),
    "channel_file": Option("", "is not read: links have the latencies of the topology"),
    "subnets": Option(1),
    "link_failures": Option(0, "is ignored: all links of the document work"),
    "fail_seed": Option(0, "is ignored: all links of the document work", is_text=True),
    "in_ports": Option(5, _LEGACY),
    "out_ports": Option(5, _LEGACY),
    # The router.
    "router": Option("iq"),
    "num_vcs": Option(16),
    "vc_buf_size": Option(8),
    "buf_size": Option(-1),
    "buffer_policy": Option("private"),
    "private_bufs": Option(-1, _SHARED),
    "private_buf_size": Option(1, is_text=True),
    "private_buf_start_vc": Option(-1, _SHARED, is_text=True),
    "private_buf_end_vc": Option(-1, _SHARED, is_text=True),
    "max_held_slots": Option(-1, _SHARED),
    "feedback_aging_scale": Option(1, _SHARED),
    "feedback_offset": Option(0, _SHARED),
    "wait_for_tail_credit": Option(0),
    "vc_busy_when_full": Option(0),
    "vc_prioritize_empty": Option(0),
    "vc_priority_donation": Option(0),
    "vc_shuffle_requests": Option(0, "has no counterpart: arbiters go through VCs by port and VC"),
    "hold_switch_for_packet": Option(0),
    "noq": Option(0, "has no counterpart: a packet may take any VC that its routing allows"),
    "input_speedup": Option(1),
    "output_speedup": Option(1),
    "internal_speedup": Option(1.0),
    "output_buffer_size": Option(-1),
    "output_delay": Option(0, _LEGACY),
    "credit_delay": Option(0),
    "routing_delay": Option(1),
    "vc_alloc_delay": Option(1),
    "sw_alloc_delay": Option(1),
    "st_prepare_delay": Option(0),
    "st_final_delay": Option(1),
    "speculative": Option(0),
    "spec_check_elig": Option(1),
    "spec_check_cred": Option(1),
    "spec_mask_by_reqs": Option(0),
    "spec_sw_allocator": Option("prio"),
    "vc_allocator": Option("islip"),
    "sw_allocator": Option("islip"),
    "arb_type": Option("round_robin", _LEGACY),
    "alloc_iters": Option(1, _LEGACY),
    "vct": Option(0, "is about the router event, which the file does not have"),
    "priority": Option("none"),
    "class_priority": Option(0, _CLASSES, is_text=True),
    # Traffic.
    "classes": Option(1),
    "traffic": Option("uniform"),
    "perm_seed": Option(0, "has no counterpart: measure.seed draws the permutation", is_text=True),
    "injection_rate": Option(0.1, is_text=True),
    "injection_rate_uses_flits": Option(0),
    "packet_size": Option(1, is_text=True),
    "packet_size_rate": Option(1, is_text=True),
    "injection_process": Option("bernoulli"),
    "burst_alpha": Option(0.5),
    "burst_beta": Option(0.5),
    "burst_r1": Option(-1.0),
    "batch_size": Option(1000, _BATCH),
    "batch_count": Option(1, _BATCH),
    "max_outstanding_requests": Option(0, _BATCH),
    "use_read_write": Option(0, is_text=True),
    "write_fraction": Option(0.5, _REPLIES, is_text=True),
    "read_request_begin_vc": Option(0, _REPLIES),
    "read_request_end_vc": Option(5, _REPLIES),
    "write_request_begin_vc": Option(2, _REPLIES),
    "write_request_end_vc": Option(7, _REPLIES),
    "read_reply_begin_vc": Option(8, _REPLIES),
    "read_reply_end_vc": Option(13, _REPLIES),
    "write_reply_begin_vc": Option(10, _REPLIES),
    "write_reply_end_vc": Option(15, _REPLIES),
    "read_request_subnet": Option(0, _SUBNETS),
    "read_reply_subnet": Option(0, _SUBNETS),
    "write_request_subnet": Option(0, _SUBNETS),
    "write_reply_subnet": Option(0, _SUBNETS),
    "read_request_size": Option(1, _REPLIES, is_text=True),
    "write_request_size": Option(1, _REPLIES, is_text=True),
    "read_reply_size": Option(1, _REPLIES, is_text=True),
    "write_reply_size": Option(1, _REPLIES, is_text=True),
    # The run.
    "sim_type": Option("latency"),
    "warmup_periods": Option(3),
    "sample_period": Option(1000),
    "max_samples": Option(10),
    "measure_stats": Option(1, "has no counterpart: all packets of the window count", is_text=True),
    "latency_thres": Option(
        500.0,
        "has no counterpart: a run goes on to its last cycle, and its verdict says whether it was stable",
        is_text=True,
        differs=True,
    ),
    "warmup_thres": Option(0.05, _STEADY, is_text=True),
    "acc_warmup_thres": Option(0.05, _STEADY, is_text=True),
    "stopping_thres": Option(0.05, _STEADY, is_text=True),
    "acc_stopping_thres": Option(0.05, _STEADY, is_text=True),
    "sim_count": Option(1, "has no counterpart: the document is one run, and seeds are a sweep"),
    "include_queuing": Option(1, "has no counterpart: packet latency counts the wait in the source queue"),
    "seed": Option(0, is_text=True),
    "deadlock_warn_timeout": Option(256, "has no counterpart: measure.watchdog looks for deadlocks"),
    # What is printed.
    "pair_stats": Option(0, _PRINTS),
    "print_activity": Option(0, _PRINTS),
    "print_csv_results": Option(0, _PRINTS),
    "viewer_trace": Option(0, _PRINTS),
    "watch_file": Option("", _PRINTS),
    "watch_flits": Option("", _PRINTS),
    "watch_packets": Option("", _PRINTS),
    "watch_transactions": Option("", _PRINTS),
    "watch_out": Option("", _PRINTS),
    "stats_out": Option("", _PRINTS),
    "injected_flits_out": Option("", _PRINTS),
    "received_flits_out": Option("", _PRINTS),
    "stored_flits_out": Option("", _PRINTS),
    "sent_flits_out": Option("", _PRINTS),
    "outstanding_credits_out": Option("", _PRINTS),
    "ejected_flits_out": Option("", _PRINTS),
    "active_packets_out": Option("", _PRINTS),
    "used_credits_out": Option("", _PRINTS),
    "free_credits_out": Option("", _PRINTS),
    "max_credits_out": Option("", _PRINTS),
    "sent_packets_out": Option("", _PRINTS),
    "sim_power": Option(0, _POWER),
    "power_output_file": Option("pwr_tmp", _POWER),
    "tech_file": Option("", _POWER),
    "channel_width": Option(128, _POWER),
    "channel_sweep": Option(0, _POWER),
}

_ALLOCATORS = (
    "islip",
    "pim",
    "select",
    "wavefront",
    "rr_wavefront",
    "separable_input_first",
    "separable_output_first",
    "loa",
    "max_size",
)

CHOICES: Mapping[str, tuple[str, ...]] = {
    "topology": (
        "torus",
        "mesh",
        "cmesh",
        "fly",
        "qtree",
        "tree4",
        "fattree",
        "flatfly",
        "anynet",
        "dragonflynew",
    ),
    "router": ("iq", "event", "chaos"),
    "buffer_policy": (
        "private",
        "shared",
        "limited",
        "dynamic",
        "shifting",
        "feedback",
        "simplefeedback",
    ),
    "vc_allocator": (*_ALLOCATORS, "piggyback"),
    "sw_allocator": _ALLOCATORS,
    "spec_sw_allocator": ("prio", *_ALLOCATORS),
    "priority": (
        "none",
        "class",
        "age",
        "network_age",
        "local_age",
        "queue_length",
        "hop_count",
        "sequence",
    ),
    "traffic": (
        "uniform",
        "background",
        "diagonal",
        "asymmetric",
        "taper64",
        "bitcomp",
        "bitrev",
        "transpose",
        "shuffle",
        "randperm",
        "tornado",
        "neighbor",
        "badperm_yarc",
        "bad_dragon",
        "hotspot",
    ),
    "injection_process": ("bernoulli", "on_off"),
    "sim_type": ("latency", "throughput", "batch"),
}
"""Names that an option may have, in front of what stands in parentheses."""

ROUTINGS: Mapping[str, tuple[str, ...]] = {
    "mesh": (
        "dor",
        "dim_order",
        "dim_order_ni",
        "dim_order_pni",
        "xy_yx",
        "adaptive_xy_yx",
        "romm",
        "romm_ni",
        "min_adapt",
        "planar_adapt",
        "valiant",
        "chaos",
    ),
    "torus": (
        "dim_order",
        "dim_order_ni",
        "dim_order_bal",
        "min_adapt",
        "valiant",
        "valiant_ni",
        "chaos",
    ),
    "cmesh": ("dor", "dor_no_express", "xy_yx", "xy_yx_no_express"),
    "fly": ("dest_tag",),
    "qtree": ("nca",),
    "tree4": ("nca", "anca"),
    "fattree": ("nca", "anca"),
    "flatfly": ("ran_min", "xyyx", "adaptive_xyyx", "valiant", "ugal", "ugal_pni", "ugal_xyyx"),
    "anynet": ("min",),
    "dragonflynew": ("min", "ugal"),
}
"""Values of `routing_function` by topology."""
