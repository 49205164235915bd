-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which program uses at least 5 % more CPU time than on the day before, at the same hour? The share
-- of the time of one CPU, averaged over the hosts that have recordings of both days. A program that
-- grows on one host only is not a new build: see the number of hosts.
with recorded as (
    select host, date, hour, sum(recorded_ns) as ns
    from read_parquet('fleet/*/*/*/*/machine.parquet', hive_partitioning = true)
    group by host, date, hour
), used as (
    select host, date, hour, process_name, sum(duration_ns) as ns
    from read_parquet('fleet/*/*/*/*/slices.parquet', hive_partitioning = true)
    where process_name is not null
    group by host, date, hour, process_name
), shares as (
    select host, date, hour, process_name, used.ns / recorded.ns as share
    from used join recorded using (host, date, hour)
)
select process_name, today.date, count(*) as hosts,
    avg(before.share) as cpus_before, avg(today.share) as cpus,
    avg(today.share) / avg(before.share) - 1 as growth,
    count(*) filter (where today.share > before.share) as hosts_with_more
from shares as today
join shares as before using (host, hour, process_name)
where today.date = before.date + interval 1 day
group by process_name, today.date
having avg(today.share) > 1.05 * avg(before.share)
-- (a new program that hardly runs is not interesting)
    and avg(today.share) > 0.001
order by hosts_with_more / hosts > 0.8 desc, avg(today.share) - avg(before.share) desc
limit 20;
