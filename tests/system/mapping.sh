#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every event and kernel object of a real archive is in a table of docs/FXT-MAPPING.md, with every
# argument and its type; and the archive begins and ends as that page says.

. "$(dirname "$0")/../lib.sh"
need_btf
wait_for_others work-items

cat >"$TMP/load.sh" <<-END
	"$KYMO_LOAD" --out "$TMP/rename.json" rename 3
	"$KYMO_LOAD" --out "$TMP/threadexec.json" threadexec
	"$KYMO_LOAD" --out "$TMP/reuse.json" reuse 3
	"$KYMO_LOAD" --out "$TMP/pingpong.json" pingpong 100
	sh -c 'kill -9 \$\$'
	"$KYMO_LOAD" --out "$TMP/loopback.json" loopback 100
	"$KYMO_LOAD" --out "$TMP/refresh.json" refresh 10
	sleep 0.3
END
record_around "$TMP/t.fxt" -e sched,irq,softirq,workqueue,power,counters,profile,offcpu --counter-interval 100ms -- \
	bash "$TMP/load.sh"
dump_records "$TMP/t.fxt"

# The rows "event argument type" of the page. Its tables have `name` type, `name` type, ... A type
# after several names (`a`, `b` strings) is the type of all of them. Among complete events, the page
# has names only for softirqs. "category:" means all events of a category.
documented() {
	awk -F'|' '
		function words_of(what, text,   n, i, part, names, k, type) {
			# A name may end with its unit in parentheses: `total (bytes)`.
			gsub(/\)`/, "\001", text)
			gsub(/\([^)\001]*\)/, "", text)
			gsub(/\001/, ")`", text)
			n = split(text, part, "`")
			k = 0
			for (i = 2; i <= n; i += 2) {
				names[++k] = part[i]
				type = part[i + 1]
				if (type ~ /^ *, *$/)
					continue
				sub(/^ */, "", type)
				sub(/[^a-z0-9].*/, "", type)
				sub(/s$/, "", type)
				for (; k > 0; k--)
					print what, names[k], type
			}
		}
		/^## / { section = $0 }
		(section == "## Events" || section == "## The profiler") && /^\| `/ {
			split($2, category, "`")
			split($3, name, "`")
			words_of(category[2] ":" name[2], $5)
		}
		section == "## Complete events" && /^\| `/ {
			split($2, category, "`")
			words_of(category[2] ":", $5)
			print category[2] ":"
		}
		section == "## The profiler" && /^\| `/ {
			split($2, category, "`")
			split($3, name, "`")
			what = category[2] ":" ($3 ~ /complete/ ? "" : name[2])
			words_of(what, $5)
			if ($3 ~ /complete/)
				print what
		}
		section == "## Counters" && /^\| `/ {
			split($2, category, "`")
			split($3, name, "`")
			words_of(category[2] ":" name[2], $5)
		}
		section == "## Kernel objects" && /^\| (process|thread) / {
			split($2, kind, " ")
			words_of(kind[1], $4)
		}' "$ROOT/docs/FXT-MAPPING.md"
}
documented | sort -u >"$TMP/documented"
assert_ge "$(wc -l <"$TMP/documented")" 30 "arguments understood in docs/FXT-MAPPING.md"

# The counter `lost` has an argument named by the class.
gojq -r '
	def kind: if .kernel_object_type == 1 then "process" else "thread" end;
	select(.record == "event" or .record == "kernel_object") |
	(if .record != "event" then kind
	 elif .event_type == "duration_complete" then "\(.category):"
	 else "\(.category):\(.name)" end) as $what |
	select(.event_type != "counter" or .category != "kymo") |
	(if .event_type == "duration_complete" then $what else empty end),
	(.args[] | "\($what) \(.name) \(.type)")' "$DUMP" |
	sort -u >"$TMP/written"
comm -13 "$TMP/documented" "$TMP/written" >"$TMP/undocumented"
assert_empty "$TMP/undocumented" "arguments that docs/FXT-MAPPING.md does not have"
# The events that this load causes must be present.
for what in sched:migrate process:fork process:exec process:exit process:rename \
	kymo:session_start kymo:session_stop kymo:clock counters:memory counters:load \
	profile:mapping profile:sampling; do
	grep -q "^$what " "$TMP/written" || [ $what = sched:migrate ] || fail "there is no $what"
done
# (on a busy machine, CPUs may never be idle, and disks may not interrupt)
for what in softirq: workqueue:; do
	grep -qx "$what" "$TMP/written" || fail "there is no complete event of $what"
done
grep -q '^process:exec old_thread koid$' "$TMP/written" || fail "no exec says old_thread"
assert_ge "$(events exit | gojq 'select(.args.signal == 9) | .name' | wc -l)" 1 "exits by signal 9"

# Scheduling records.
gojq -r 'select(.record == "context_switch" or .record == "thread_wakeup") | .record as $r |
	.args[] | "\($r) \(.name) \(.type)"' "$DUMP" | sort -u >"$TMP/written"
cat >"$TMP/documented" <<-END
	context_switch incoming_weight int32
	context_switch outgoing_weight int32
	context_switch prev_state string
	context_switch synthetic bool
	thread_wakeup context string
	thread_wakeup interrupted koid
	thread_wakeup waker koid
	thread_wakeup weight int32
END
comm -13 "$TMP/documented" "$TMP/written" >"$TMP/undocumented"
assert_empty "$TMP/undocumented" "arguments of scheduling records that are not documented"

# Order: magic, provider, section, initialization; then names; then kymo's own identity, start,
# clock.
assert_eq "$(head -4 "$DUMP" | gojq -r .record | tr '\n' ' ')" \
	"trace_info provider_info provider_section initialization " "first records"
gojq -r 'select(.record == "event" or .record == "context_switch" or .record == "thread_wakeup") |
	"\(.record) \(.name // "")"' "$DUMP" >"$TMP/order"
assert_eq "$(sed -n '1,3p' "$TMP/order" | tr '\n' ' ')" "event session_start event clock event sampling " \
	"first events"
# (stacks are walked by tables where the processor has them: session_stacks has none of them;
# another program on the machine can be one of Python)
grep -vx 'event session_\(stacks\|python\)' "$TMP/order" | tail -2 | tr '\n' ' ' >"$TMP/last"
assert_eq "$(cat "$TMP/last")" "event clock event session_stop " "last events"
assert_eq "$(tail -1 "$TMP/order")" "event session_stop" "the last event"
opening=$(nproc)
assert_eq "$(sed -n "4,$((3 + opening))p" "$TMP/order" | sort -u)" "context_switch " \
	"opening switches"

# A thread's kernel object precedes the first record that refers to it, except for a few threads
# whose identity was found later.
gojq -r '
	if .record == "kernel_object" then "object \(.koid)"
	elif .record == "context_switch" then "use \(.outgoing_thread_id)", "use \(.incoming_thread_id)"
	elif .record == "thread_wakeup" then "use \(.waking_thread_id)"
	else empty end' "$DUMP" | awk '
	$1 == "object" { known[$2] = 1 }
	$1 == "use" && $2 != 0 && !known[$2] && !late[$2]++ { n++ }
	END { print n + 0 }' >"$TMP/late"
assert_le "$(cat "$TMP/late")" 5 "threads that are named before they are introduced"
# At the end, all processes and threads have names.
gojq -r 'if .record == "context_switch" then .outgoing_thread_id, .incoming_thread_id
	elif .record == "thread_wakeup" then .waking_thread_id
	elif .record == "event" then .thread_id, "process \(.process_id)" else empty end' "$DUMP" |
	grep -vx 0 | sort -u >"$TMP/used"
gojq -r 'select(.record == "kernel_object") |
	if .kernel_object_type == 1 then "process \(.koid)" else .koid end' "$DUMP" | sort -u >"$TMP/known"
comm -23 "$TMP/used" "$TMP/known" >"$TMP/unknown"
assert_empty "$TMP/unknown" "processes and threads without a kernel object"
