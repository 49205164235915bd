-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which function of which build uses more CPU time than in the other builds of the same program?
-- The share of the samples in the program.
with samples as (
    select host, date, hour, part, stack, count(*) as n
    from read_parquet('fleet/*/*/*/*/samples.parquet', hive_partitioning = true)
    group by host, date, hour, part, stack
), frames as (
    select host, date, hour, part, stack, function, module, build_id
    from read_parquet('fleet/*/*/*/*/stacks.parquet', hive_partitioning = true) as s
    join read_parquet('fleet/*/*/*/*/frames.parquet', hive_partitioning = true) as f
        using (host, date, hour, part, frame)
    where position = 0 and depth = 0 and build_id is not null
), functions as (
    select module, build_id, function, sum(n) as n, count(distinct host) as hosts
    from samples join frames using (host, date, hour, part, stack)
    group by module, build_id, function
), shares as (
    select *, n / sum(n) over (partition by module, build_id) as share,
        sum(n) over (partition by module, build_id) as of_build
    from functions
)
select a.module, a.build_id, a.function, a.hosts, a.share,
    coalesce(max(b.share), 0) as share_in_other_builds
from shares as a
left join shares as b
    on b.module = a.module and b.build_id != a.build_id and b.function = a.function
-- (a program with one build has nothing to compare)
where a.of_build >= 100 and exists (
    from shares as c where c.module = a.module and c.build_id != a.build_id)
group by a.module, a.build_id, a.function, a.hosts, a.share
-- (a hundredth more: functions with hardly any sample are not interesting)
order by (a.share + 0.01) / (share_in_other_builds + 0.01) desc
limit 20;
