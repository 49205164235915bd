-- SPDX-License-Identifier: GPL-2.0-or-later
-- Where does a service wait? The stacks with the longest times off CPU, of all hosts. They are
-- compared by the names of their functions, or by build id and offset without names.
with waits as (
    select host, date, hour, part, stack, count(*) as waits, sum(duration_ns) as ns
    from read_parquet('fleet/*/*/*/*/waits.parquet', hive_partitioning = true)
    where unit = 'db.service' and stack is not null
    group by host, date, hour, part, stack
), names as (
    select host, date, hour, part, stack,
        string_agg(coalesce(function, build_id || '+' || format('{:x}', "offset"),
            format('{:x}', address)), ' < ' order by position, depth) as calls
    from read_parquet('fleet/*/*/*/*/stacks.parquet', hive_partitioning = true) as s
    join read_parquet('fleet/*/*/*/*/frames.parquet', hive_partitioning = true) as f
        using (host, date, hour, part, frame)
    group by host, date, hour, part, stack
)
select calls, count(distinct host) as hosts, sum(waits) as waits, sum(ns) / 1e9 as seconds
from waits join names using (host, date, hour, part, stack)
group by calls
order by seconds desc
limit 10;
