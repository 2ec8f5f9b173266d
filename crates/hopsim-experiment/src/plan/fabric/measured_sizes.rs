//! Distributions of flow sizes that were measured: bytes, and how many flows of a hundred are so long at most.
//!
//! The numbers are those with which the simulator of HPCC makes its traffic (Li et al., *HPCC: High Precision Congestion Control*,
//! SIGCOMM 2019; `alibaba-edu/High-Precision-Congestion-Control`, files `WebSearch_distribution.txt`, `FbHdp_distribution.txt` and
//! `AliStorage2019.txt` of `traffic_gen`), but that they begin at 0 bytes there, and at the shortest flow, of a byte, here.

/// Flows of web search. Source: Alizadeh et al., *Data Center TCP (DCTCP)*, SIGCOMM 2010.
pub const WEB_SEARCH: [(u32, f64); 12] = [
    (1, 0.0),
    (10_000, 15.0),
    (20_000, 20.0),
    (30_000, 30.0),
    (50_000, 40.0),
    (80_000, 53.0),
    (200_000, 60.0),
    (1_000_000, 70.0),
    (2_000_000, 80.0),
    (5_000_000, 90.0),
    (10_000_000, 97.0),
    (30_000_000, 100.0),
];

/// Flows of a Hadoop cluster. Source: Roy et al., *Inside the Social Network's (Datacenter) Network*, SIGCOMM 2015.
pub const HADOOP: [(u32, f64); 20] = [
    (1, 0.0),
    (100, 1.0),
    (200, 2.0),
    (300, 5.0),
    (350, 15.0),
    (400, 20.0),
    (500, 30.0),
    (600, 40.0),
    (700, 50.0),
    (1_000, 60.0),
    (2_000, 67.0),
    (7_000, 70.0),
    (30_000, 72.0),
    (50_000, 82.0),
    (80_000, 87.0),
    (120_000, 90.0),
    (300_000, 95.0),
    (1_000_000, 97.5),
    (2_000_000, 99.0),
    (10_000_000, 100.0),
];

/// Flows of distributed storage. Source: Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019.
pub const ALI_STORAGE: [(u32, f64); 9] = [
    (1, 0.0),
    (4_000, 22.93),
    (8_000, 69.21),
    (16_000, 80.61),
    (32_000, 90.47),
    (64_000, 93.53),
    (128_000, 96.77),
    (256_000, 97.53),
    (2_000_000, 100.0),
];
