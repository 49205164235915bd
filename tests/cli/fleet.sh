#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A simulated fleet: `kymo export --partition` makes a partitioned data set, and each query of
# examples/fleet finds the fault that make-fleet has planted. The queries need KYMO_DUCKDB: a command
# `COMMAND DIR FILE ...` that runs the query of each FILE in DIR, and prints the rows as one JSON
# array for each, on its own line.

. "$(dirname "$0")/../lib.sh"

examples=$(cd "$(dirname "$0")/../../examples/fleet" && pwd)
cd "$TMP" || exit 1
mkdir archives
"$MAKE_FLEET" archives 1 20 "${FLEET_SLICES:-1000}" || fail "no archives"
for archive in archives/*.fxt; do
	expect_exit "0|3" "$KYMO" export "$archive" -o fleet --format parquet --partition
done
assert_eq "$(find fleet -name machine.parquet | wc -l)" 40
bad=fleet/host=host-003/date=2025-11-29/hour=02/part=0000
assert_eq "$("$PRINT_PARQUET" "$bad/machine.parquet" | gojq -r '[.host, .kernel] | join(" ")')" \
	"host-003 6.12.9-bad"
assert_eq "$("$PRINT_PARQUET" "fleet/host=host-005/date=2025-11-30/hour=02/part=0000/sheds.parquet" |
	gojq -c '[.what, .back, .cost, .limit]')" '["stacks",false,0.09,0.05]'
# The same part again.
expect_exit 1 "$KYMO" export archives/host-003-0.fxt -o fleet --format parquet --partition
assert_says stderr "the directory $bad is not empty; --force replaces its tables"
expect_exit 0 "$KYMO" export --force --json archives/host-003-0.fxt -o fleet --format parquet --partition
assert_eq "$(gojq -r .output stdout)" "$bad"
expect_exit 2 "$KYMO" export archives/host-003-0.fxt -o a.pftrace --partition
assert_says stderr "--partition makes directories of parquet tables, not of perfetto"
# An archive without a host, and one whose name is a path.
"$MAKE_PROFILE" a.fxt <<<"start a/b=c%"
expect_exit 0 "$KYMO" export a.fxt -o fleet2 --format parquet --partition
[ -e "fleet2/host=a%2Fb%3Dc%25/date=2023-11-14/hour=22/part=1320/machine.parquet" ] ||
	fail "another directory: $(find fleet2)"
expect_exit 1 "$KYMO" export "$(dirname "$0")/../golden/fxt/writer.fxt" -o fleet3 --format parquet --partition
assert_says stderr "does not begin with its host and a clock"
[ ! -e fleet3 ] || fail "a directory without a host: $(find fleet3)"

# Each query reads tables and columns that exist.
[ "$(find "$examples" -name '*.sql' | wc -l)" = 10 ] || fail "there are not ten queries"
grep -oh 'fleet/[*/]*/[a-z]*\.parquet' "$examples"/*.sql | sed 's|.*/||' | sort -u >read-tables
while read -r table; do
	[ -e "$bad/$table" ] || fail "a query reads $table"
done <read-tables

[ -n "${KYMO_DUCKDB:-}" ] || {
	echo "the queries are not run: KYMO_DUCKDB is not set"
	exit 0
}

# finds QUERY FILTER: the first row of the query is that of the planted fault
finds() {
	$KYMO_DUCKDB "$TMP" "$examples/$1.sql" >rows.json || fail "$1: DuckDB refuses it"
	holds rows.json ".[0] | $2" || fail "$1: $(cat rows.json)"
}

finds wakeup-latency '.kernel == "6.12.9-bad" and .unit == "web.service"'
finds grown-programs '.process_name == "shop" and .growth > 0.15 and .growth < 0.5'
finds shed-hosts '.host == "host-005" and .what == "stacks"'
finds leaks-by-build '.build_id == "bad0000000000000000000000000000000000000" and .module == "/usr/bin/cache"'
finds noisy-neighbours '.host == "host-008" and .noisy_unit == "batch.service"'
finds off-cpu-stacks '.calls == "futex_wait < commit_log < main"'
finds hot-functions '.build_id == "bad0000000000000000000000000000000000000" and .function == "spin_retry"'
finds disk-waits '.host == "host-011" and .times_median > 10'
finds process-storms '.host == "host-013" and .unit == "cron.service"'
finds incomplete-hosts '.host == "host-014"'
