-- SPDX-License-Identifier: GPL-2.0-or-later
-- On which hosts does one unit take the CPUs while the others wait for them? The share of the CPU
-- time of the largest unit, and the time that the others wait for each second that they run.
with units as (
    select host, unit, sum(duration_ns) as ran, sum(coalesce(runnable_ns, 0)) as waited
    from read_parquet('fleet/*/*/*/*/slices.parquet', hive_partitioning = true)
    where unit is not null
    group by host, unit
), largest as (
    select host, arg_max(unit, ran) as unit, max(ran) / sum(ran) as share
    from units
    group by host
)
select host, largest.unit as noisy_unit, share as share_of_cpu_time,
    sum(waited) / sum(ran) as waited_per_second_of_others
from largest join units using (host)
where units.unit != largest.unit
group by host, largest.unit, share
having share > 0.5
order by waited_per_second_of_others desc
limit 20;
