# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Words for tests whose results depend on what the kernel reports, behind those of lib.sh.

# hidden_switches FILE: prints the number of switches that the kernel did not report
# (docs/architecture/pipeline.md)
hidden_switches() {
	{ "$KYMO" summary --json --no-symbols "$1" 2>/dev/null || [ $? = 3 ]; } | gojq .unreported
}

# For MAY_BE_LOST: the kernel skips page faults on a CPU whose thread changes a map
# (docs/architecture/tracepoints.md), more of them if others want the CPU.
# shellcheck disable=SC2034
SKIPPED_FAULTS=': lost [0-9]* events\? of tracepoints: '

# others_run: whether more threads than one for each CPU wanted to run in the last minute
others_run() {
	awk -v n="$(nproc)" '{ exit !($1 > n) }' /proc/loadavg
}

# record_and_judge FILE RECORD JUDGE: the function RECORD makes the archive FILE, and the function
# JUDGE checks it, in a subshell. If the check fails, and the kernel has hidden switches meanwhile, or
# others had the CPUs, this is repeated up to five times.
record_and_judge() {
	local file=$1 n n_hidden status

	for n in 1 2 3 4 5; do
		"$2"
		status=0
		# (`if` and `||` would make failed commands of JUDGE go on)
		(
			set -E
			trap 'echo "FAIL: ${BASH_SOURCE[0]}:$LINENO: $BASH_COMMAND" >&2' ERR
			"$3"
		) &
		wait $! || status=$?
		[ $status != 0 ] || return 0
		n_hidden=$(hidden_switches "$file")
		[ "$n_hidden" -gt 0 ] || others_run || break
		note "disturbed (try $n): the kernel has hidden $n_hidden switches; load: $(cut -d ' ' -f 1 /proc/loadavg)"
	done
	fail "$3 failed in recording $n"
}

# assert_samples N HZ CPU_NS SCHEDULED_NS PERCENT WHAT: N samples are as many as are due, up to
# PERCENT. CPU_NS is the CPU time of the sampled code, as its thread has measured it, and
# SCHEDULED_NS the time of the thread between its switches, as in the archive. A thread's clock does
# not have the time of interrupts, or that the host took, but samples are due then, too.
assert_samples() {
	awk -v n="$1" -v hz="$2" -v least="$3" -v most="$4" -v p="$5" 'BEGIN {
		exit !(n >= least * hz / 1e9 * (1 - p / 100) && n <= most * hz / 1e9 * (1 + p / 100)) }' ||
		fail "$6: $1 are not within $5 % of $2 Hz in $(($3 / 1000000)) to $(($4 / 1000000)) ms"
}

# assert_leaf_shares NAMED ALL STOLEN_NS: of ALL samples of a `stack-load chain 2000`, whose truth is in
# $TMP/truth.json, its leaves have their shares. NAMED LEAF prints the number of samples of a leaf.
# While the host does not run the CPU (STOLEN_NS in all), there are no samples: a share of 2 s.
assert_leaf_shares() {
	local named=$1 all=$2 stolen=$3 which percent n

	for which in a b c; do
		percent=$(json "$TMP/truth.json" \
			'.leaf_ns as $ns | 100 * $ns["abc" | index($leaf)] / ($ns | add)' --arg leaf $which)
		n=$("$named" leaf_$which)
		note "leaf_$which: $n of $all, should be ${percent%.*} %"
		awk -v n="$n" -v all="$all" -v p="$percent" -v stolen="$stolen" \
			'BEGIN { d = 100 * n / all - p; m = 3 + 100 * stolen / 2e9; exit !(d >= -m && d <= m) }' ||
			fail "leaf_$which has $n of $all samples, not ${percent%.*} % ($((stolen / 1000000)) ms were stolen)"
	done
}

# slices_within_schedule FILE GLOB N THREADS: in Perfetto, FILE has N slices of categories GLOB, on
# THREADS threads, and each begins and ends while its thread runs. Passes without Perfetto.
slices_within_schedule() {
	[ "${KYMO_PERFETTO_SQL:-}" ] || return 0
	perfetto "$1" "
		SELECT count(*) AS n, count(DISTINCT t.utid) AS threads,
		       sum(EXISTS(SELECT 1 FROM sched c WHERE c.utid = t.utid AND
				  c.ts <= s.ts AND s.ts < c.ts + c.dur)) AS begun,
		       sum(EXISTS(SELECT 1 FROM sched c WHERE c.utid = t.utid AND
				  c.ts <= s.ts + s.dur AND s.ts + s.dur <= c.ts + c.dur)) AS ended
		FROM slice s JOIN thread_track t ON s.track_id = t.id
		WHERE s.category GLOB '$2'" >"$TMP/answer"
	holds "$TMP/answer" ".[0] == {n: $3, threads: $4, begun: $3, ended: $3}" ||
		fail "events outside of the times when their threads ran: $(cat "$TMP/answer")"
}
