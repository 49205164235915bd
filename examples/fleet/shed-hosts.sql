-- SPDX-License-Identifier: GPL-2.0-or-later
-- On which hosts is the recording not complete because it cost too much, or lost events?
with machine as (
    select host, sum(lost) as lost, sum(switches + wakeups + migrations) as events,
        sum(daemon_cpu_ns + bpf_cpu_ns) / sum(recorded_ns) as cost_cpus
    from read_parquet('fleet/*/*/*/*/machine.parquet', hive_partitioning = true)
    group by host
), sheds as (
    select host, count(*) as sheds, string_agg(distinct what, ', ') as what, max(cost) as max_cost
    from read_parquet('fleet/*/*/*/*/sheds.parquet', hive_partitioning = true)
    where not back
    group by host
)
select host, coalesce(sheds, 0) as sheds, what, max_cost, lost, lost / events as lost_share,
    cost_cpus
from machine left join sheds using (host)
where sheds > 0 or lost > 0
order by sheds desc, lost desc
limit 50;
