-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which build leaks? Blocks to which nothing points at the end, by the program that allocated them.
-- The program is the module of the innermost frame of the stack that is not a library.
with blocks as (
    select host, date, hour, part, stack, count(*) as blocks, sum(size) as bytes
    from read_parquet('fleet/*/*/*/*/blocks.parquet', hive_partitioning = true)
    where final and reach = 'lost'
    group by host, date, hour, part, stack
), calls as (
    select host, date, hour, part, stack, position, module, build_id
    from read_parquet('fleet/*/*/*/*/stacks.parquet', hive_partitioning = true) as s
    join read_parquet('fleet/*/*/*/*/frames.parquet', hive_partitioning = true) as f
        using (host, date, hour, part, frame)
    where depth = 0 and module is not null and module not like '%.so%'
), programs as (
    select host, date, hour, part, stack, arg_min(module, position) as module,
        arg_min(build_id, position) as build_id
    from calls
    group by host, date, hour, part, stack
)
select module, build_id, count(distinct host) as hosts, sum(blocks) as blocks, sum(bytes) as bytes,
    sum(bytes) / count(distinct host) as bytes_per_host
from blocks join programs using (host, date, hour, part, stack)
group by module, build_id
order by bytes_per_host desc
limit 20;
