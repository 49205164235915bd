-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which hosts start many short processes, and from which unit? Processes that started and ended
-- within a second, for each second of the recording.
with recorded as (
    select host, sum(recorded_ns) / 1e9 as seconds
    from read_parquet('fleet/*/*/*/*/machine.parquet', hive_partitioning = true)
    group by host
)
select host, unit, mode(name) as name, count(*) as processes,
    count(*) / any_value(seconds) as per_second
from read_parquet('fleet/*/*/*/*/processes.parquet', hive_partitioning = true)
join recorded using (host)
where exit - start < interval 1 second
group by host, unit
order by per_second desc
limit 20;
