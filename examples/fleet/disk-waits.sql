-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which hosts have slow disks? The mean of uninterruptible waits (state D), beside the median of
-- all hosts.
with hosts as (
    select host, count(*) as waits, avg(duration_ns) / 1e6 as mean_ms,
        quantile_disc(duration_ns, 0.99) / 1e6 as p99_ms
    from read_parquet('fleet/*/*/*/*/waits.parquet', hive_partitioning = true)
    where state = 'D'
    group by host
    having count(*) >= 10
)
select host, waits, mean_ms, p99_ms, mean_ms / (select median(mean_ms) from hosts) as times_median
from hosts
order by times_median desc
limit 20;
