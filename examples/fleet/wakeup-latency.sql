-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which kernel wakes which service late? The 99th percentile of the wakeup latency, by version of
-- the kernel and unit.
with machine as (
    select host, date, hour, part, kernel
    from read_parquet('fleet/*/*/*/*/machine.parquet', hive_partitioning = true)
), slices as (
    select host, date, hour, part, unit, wakeup_latency_ns
    from read_parquet('fleet/*/*/*/*/slices.parquet', hive_partitioning = true)
    where wakeup_latency_ns is not null
)
select kernel, unit, count(*) as wakeups, count(distinct host) as hosts,
    quantile_disc(wakeup_latency_ns, 0.99) / 1e6 as p99_ms,
    max(wakeup_latency_ns) / 1e6 as max_ms
from slices join machine using (host, date, hour, part)
group by kernel, unit
having count(*) >= 100
order by p99_ms desc
limit 20;
