#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Activities of CPUs other than running threads, compared with the kernel's statistics: every
# interrupt, softirq and idle state that the kernel counts during the recording is in the archive,
# and none that it does not count in a longer time. Work items are queued on purpose.

. "$(dirname "$0")/../lib.sh"
need_btf
wait_for_others work-items
cpu=$(last_cpu)
items=500 packets=3000 blocks=300

# books: prints the kernel's statistics as "kind cpu name count", one per row. Those of interrupts
# have numbers, and a handler.
books() {
	awk 'NR == 1 { n = NF; for (i = 1; i <= NF; i++) cpu[i] = substr($i, 4) }
		NR > 1 { sub(":", "", $1); for (i = 1; i <= n; i++) print "softirq", cpu[i], $1, $(i + 1) }' \
		/proc/softirqs
	awk 'NR == 1 { n = NF; for (i = 1; i <= NF; i++) cpu[i] = substr($i, 4) }
		$1 ~ /^[0-9]+:$/ { sub(":", "", $1); for (i = 1; i <= n; i++) print "irq", cpu[i], $1, $(i + 1) }' \
		/proc/interrupts
	for file in /sys/devices/system/cpu/cpu[0-9]*/cpuidle/state*/{usage,time}; do
		[ -r "$file" ] || continue
		echo "$file $(cat "$file")" | sed -n '
			s|.*/cpu\([0-9]*\)/cpuidle/state[0-9]*/usage|idle \1 all|p
			s|.*/cpu\([0-9]*\)/cpuidle/state[0-9]*/time|idle_us \1 all|p'
	done
}
export -f books

cat >"$TMP/load.sh" <<-END
	sleep 0.2
	books >"$TMP/inner.before"
	"$KYMO_LOAD" --cpu $cpu --out "$TMP/loopback.json" loopback $packets
	"$KYMO_LOAD" --out "$TMP/refresh.json" refresh $items
	"$KYMO_LOAD" --out "$TMP/blocks.json" blocks "$TMP/blocks" $blocks || true
	sleep 0.5
	books >"$TMP/inner.after"
	sleep 0.1
END
books >"$TMP/outer.before"
record_around "$TMP/t.fxt" -b 32M -e sched,irq,softirq,workqueue,power -- bash "$TMP/load.sh"
books >"$TMP/outer.after"
expect_exit 0 "$KYMO" check "$TMP/t.fxt"
summarize "$TMP/t.fxt"
assert_no_loss
dump_records "$TMP/t.fxt"

# Complete events, one per row: category, name, pid, tid, begin, end, number
grep -F '"duration_complete"' "$DUMP" | gojq -r 'select(.record == "event") |
	(.args | map({(.name): .value}) | add) as $args |
	[.category, .name, .process_id, .thread_id, .timestamp_ns, .end_time_ns,
	 ($args.irq // $args.state // 0)] | @tsv' >"$TMP/complete"
assert_ge "$(wc -l <"$TMP/complete")" $((packets + items)) "complete events"

# "kind cpu name count" of the archive, in the format of books
awk -F'\t' -v OFS=' ' '
	$1 == "softirq" { n[$1 " " $4 - 4521985 " " $2]++ }
	$1 == "irq" { n[$1 " " $4 - 4390913 " " $7]++ }
	$1 == "power" { n["idle " $4 - 4653057 " all"]++ }
	END { for (k in n) print k, n[k] }' "$TMP/complete" | sort >"$TMP/recorded"

# sandwich KIND SLACK: for each row, inner <= recorded <= outer + SLACK per cent (and one). Kernels
# that hide all events while certain threads run (docs/architecture/pipeline.md, "Merge by time")
# count some events without reporting them: the more these threads run, the more events.
sandwich() {
	awk -v kind="$1" -v slack="$2" '
		FILENAME ~ /inner.before$/ { inner[$1 " " $2 " " $3] -= $4 }
		FILENAME ~ /inner.after$/ { inner[$1 " " $2 " " $3] += $4 }
		FILENAME ~ /outer.before$/ { outer[$1 " " $2 " " $3] -= $4 }
		FILENAME ~ /outer.after$/ { outer[$1 " " $2 " " $3] += $4 }
		FILENAME ~ /recorded$/ { recorded[$1 " " $2 " " $3] = $4 }
		END {
			for (k in outer) {
				if (split(k, part, " ") && part[1] != kind)
					continue
				n = recorded[k] + 0
				total += n
				if (n < inner[k] * 0.85 - 5 || n > outer[k] * (1 + slack / 100) + 1)
					print k ": " inner[k] " <= " n " <= " outer[k] " is not so"
			}
			for (k in recorded)
				if (split(k, part, " ") && part[1] == kind && !(k in outer))
					print k ": the kernel has no books of it"
			print total + 0 >"/dev/stderr"
		}' "$TMP"/{inner,outer}.{before,after} "$TMP/recorded" >"$TMP/wrong" 2>"$TMP/total"
	total=$(cat "$TMP/total")
	note "$1: $total recorded"
	assert_empty "$TMP/wrong" "$1: what does not agree with the kernel's books"
}
sandwich softirq 0
assert_ge "$total" "$packets" "softirqs"
# If an edge arrives while its handler runs, the handler runs again, but the kernel does not count
# this run.
sandwich irq 10
irqs=$total
if [ -s "$TMP/blocks.json" ] && [ "$irqs" -ge "$blocks" ]; then
	grep -q $'^irq\t' "$TMP/complete" || fail "no interrupt was recorded"
else
	note "only $irqs interrupts: no disk that interrupts under $TMP"
fi
json "$SUMMARY" '.activity.irq[] | [.number, .name] | @tsv' | while read -r number name; do
	grep "^ *$number:" /proc/interrupts | grep -F "$name" >/dev/null ||
		fail "/proc/interrupts does not call interrupt $number '$name'"
done

# Each packet was its own softirq, on the sender's CPU.
received=$(awk -F'\t' -v tid=$((4521985 + cpu)) '$1 == "softirq" && $2 == "NET_RX" && $4 == tid' \
	"$TMP/complete" | wc -l)
assert_ge "$received" "$packets" "NET_RX softirqs on CPU $cpu"

# Each work item, by the name of its function, on a worker; as many on each CPU.
expected=$(json "$TMP/refresh.json" .items)
awk -F'\t' '$1 == "workqueue" && $2 == "refresh_vm_stats"' "$TMP/complete" >"$TMP/items"
assert_eq "$(wc -l <"$TMP/items")" "$expected" "work items refresh_vm_stats"
assert_eq "$(cut -f3 "$TMP/items" | sort -u)" 2 "process of the workers"
cut -f4 "$TMP/items" | sort -u | while read -r tid; do
	json "$SUMMARY" ".threads[] | select(.tid == $tid) | .name" | grep '^kworker/' >/dev/null ||
		fail "thread $tid, which ran a work item, is no kworker"
done
assert_eq "$(json "$SUMMARY" '.activity.workqueue[] | select(.name == "refresh_vm_stats") | .count')" \
	"$expected" "work items in the summary"
# They ran on their worker's CPU while it was running: each begins in a slice of its thread. (With
# other load, this kernel does not report each switch: then 2 of 100 are outside.)
awk -F'\t' '
	NR == FNR { if ($1 == "workqueue") { begin[++n] = $5; tid[n] = $4 } next }
	!$6 { if (!($2 in on)) on[$2] = 0
	      ran[on[$2]] = ran[on[$2]] " " since[$2] "-" $1; on[$2] = $4; since[$2] = $1 }
	$6 { on[$2] = $4; since[$2] = $1 }
	END {
		for (i = 1; i <= n; i++) {
			found = 0
			m = split(ran[tid[i]], slice, " ")
			for (j = 1; j <= m && !found; j++) {
				split(slice[j], t, "-")
				found = begin[i] >= t[1] && begin[i] <= t[2]
			}
			outside += !found
		}
		print outside + 0
	}' "$TMP/complete" <(switches) >"$TMP/outside"
note "work items that begin while their worker does not run: $(cat "$TMP/outside")"
assert_le "$(cat "$TMP/outside")" $((expected / 10)) "work items outside of their worker's slices"

# The sums of all idle states of a CPU: their number and time are those that its driver counts. The
# driver reads the clock between our programs, so its time for each state is a little shorter. It
# has not yet counted a state that the end of the recording truncates.
if grep -q '^idle ' "$TMP/outer.after"; then
	sandwich idle 0
	stop=$(json "$SUMMARY" .end_ns)
	awk -v stop="$stop" '
		FILENAME ~ /complete$/ {
			if ($1 != "power")
				next
			cpu = $(NF - 3) - 4653057
			us[cpu] += ($(NF - 1) - $(NF - 2)) / 1000
			n[cpu]++
			if ($(NF - 1) == stop)
				open[cpu] = ($(NF - 1) - $(NF - 2)) / 1000
		}
		$1 == "idle_us" && FILENAME ~ /inner.before$/ { inner[$2] -= $4 }
		$1 == "idle_us" && FILENAME ~ /inner.after$/ { inner[$2] += $4 }
		$1 == "idle_us" && FILENAME ~ /outer.before$/ { outer[$2] -= $4 }
		$1 == "idle_us" && FILENAME ~ /outer.after$/ { outer[$2] += $4 }
		END {
			for (c in outer)
				if (us[c] < inner[c] * 0.97 - 1000 ||
				    us[c] > outer[c] * 1.03 + 2 * n[c] + open[c] + 1000)
					printf "CPU %s: %d <= %d <= %d us is not so\n", c, inner[c], us[c], outer[c]
		}' "$TMP"/{inner,outer}.{before,after} "$TMP/complete" >"$TMP/wrong"
	assert_empty "$TMP/wrong" "time in idle states that does not agree with the driver's books"
else
	note "no cpuidle driver: idle states are not held against its books"
fi
# (if other processes keep all CPUs busy, there is none)
[ "$(json "$SUMMARY" '[.cpus[].idle_ns] | add')" -lt 100000000 ] || grep -q $'^power\t' "$TMP/complete" ||
	fail "no idle state was recorded"

# On each track, intervals nest, and none extends beyond the recording.
sort -t$'\t' -k4,4n -k5,5n -k6,6nr "$TMP/complete" | awk -F'\t' '
	$4 != track { track = $4; depth = 0 }
	{
		while (depth > 0 && end[depth] <= $5)
			depth--
		if ($6 < $5 || (depth > 0 && $6 > end[depth]))
			print
		end[++depth] = $6
	}' >"$TMP/crossing"
assert_empty "$TMP/crossing" "complete events that cross another one on their thread"
start=$(json "$SUMMARY" .start_ns) stop=$(json "$SUMMARY" .end_ns)
awk -F'\t' -v from="$start" -v to="$stop" '$5 < from || $6 > to' "$TMP/complete" >"$TMP/outside"
assert_empty "$TMP/outside" "complete events outside of the recording"

# Without sched, there is no schedule. A filter only applies to threads, which is reported.
expect_exit 0 "$KYMO" record --direct -e softirq -d 200ms -p $$ -o "$TMP/softirq.fxt"
assert_says "$TMP/stderr" 'whole machine: softirq' "the message about the filter"
dump_records "$TMP/softirq.fxt"
assert_eq "$(gojq -r 'select(.record == "context_switch" or .record == "thread_wakeup") | .record' \
	"$DUMP" | wc -l)" 0 "scheduling records without category sched"
assert_ge "$(grep -c '"duration_complete"' "$DUMP")" 1 "softirqs without category sched"
# A worker is a thread.
record_around "$TMP/work.fxt" -e workqueue -p $$ -- "$KYMO_LOAD" --out "$TMP/refresh.json" refresh 20
summarize "$TMP/work.fxt"
assert_eq "$(json "$SUMMARY" '.activity.workqueue | length')" 0 "work items of workers that are filtered out"

if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	perfetto "$TMP/t.fxt" \
		"select name, value from stats where value != 0 and (name glob 'fuchsia*' or
			name glob 'slice_*' or severity in ('error', 'data_loss'))" \
		"select count(*) n from slice where dur = -1" \
		"select p.name process, t.name thread, s.name, count(*) n, sum(s.dur) ns from slice s
			join thread_track tt on s.track_id = tt.id join thread t using (utid)
			join process p using (upid) where s.category in ('irq', 'softirq', 'power', 'workqueue')
			group by 1, 2, 3" >"$TMP/answers"
	assert_eq "$(sed -n 1p "$TMP/answers")" '[]' "errors of import"
	assert_eq "$(sed -n 2p "$TMP/answers")" '[{"n":0}]' "open slices"
	sed -n 3p "$TMP/answers" | gojq -r '.[] | select(.process != "kthreadd") |
		[.process, .thread, .name, .n, .ns] | @tsv' | sort >"$TMP/theirs"
	awk -F'\t' '
		BEGIN {
			track[4390912] = "IRQ\tirq cpu "
			track[4521984] = "Softirq\tsoftirq cpu "
			track[4653056] = "Power\tidle cpu "
		}
		$1 != "workqueue" || $3 != 2 {
			k = track[$3] $4 - $3 - 1 "\t" $2
			n[k]++
			ns[k] += $6 - $5
		}
		END { for (k in n) printf "%s\t%d\t%d\n", k, n[k], ns[k] }' "$TMP/complete" | sort >"$TMP/ours"
	diff "$TMP/ours" "$TMP/theirs" >"$TMP/diff" || fail "Perfetto sees other slices: $(head -5 "$TMP/diff")"
	assert_eq "$(sed -n 3p "$TMP/answers" |
		gojq '[.[] | select(.name == "refresh_vm_stats" and .process == "kthreadd") | .n] | add')" \
		"$expected" "work items in Perfetto"
fi
