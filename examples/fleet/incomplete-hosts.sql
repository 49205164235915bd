-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which recordings are cut off, damaged or missing? The answers of the other queries are without
-- these. A host is missing in an hour if others have one, and it has another one.
with machine as (
    select host, date, hour, bool_and(complete) as complete, bool_or(damaged) as damaged
    from read_parquet('fleet/*/*/*/*/machine.parquet', hive_partitioning = true)
    group by host, date, hour
), expected as (
    from (select distinct host from machine), (select distinct date, hour from machine)
)
select host, date, hour,
    case when complete is null then 'missing' when damaged then 'damaged' else 'cut off' end as what
from expected left join machine using (host, date, hour)
where complete is null or damaged or not complete
order by date desc, hour desc, host
limit 100;
