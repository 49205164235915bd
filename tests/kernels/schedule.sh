#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The category sched, and lifecycles: running threads, wakers and woken threads, births, names and
# ends.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/words.sh"
need_btf
cpu=$(last_cpu)

# truth NAME FILTER: prints a value from the report of load NAME
truth() {
	json "$TMP/$1.json" "$2"
}

cgroup=
CGROUP2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ "$CGROUP2" ] && mkdir "$CGROUP2/kymo-kernels-$$.service" 2>/dev/null; then
	cgroup=$CGROUP2/kymo-kernels-$$.service
	at_exit rmdir "$cgroup"
fi

cat >"$TMP/load.sh" <<-END
	"$KYMO_LOAD" --out "$TMP/pingpong.json" --cpu $cpu pingpong $ROUNDS
	for kind in futex pipe signal tcp timer; do
		"$KYMO_LOAD" --out "$TMP/\$kind.json" wakeups \$kind $((ROUNDS / 4))
	done
	"$KYMO_LOAD" --out "$TMP/procs.json" procs $((ROUNDS / 10))
	"$KYMO_LOAD" --out "$TMP/rename.json" rename 3
	"$KYMO_LOAD" --out "$TMP/threadexec.json" threadexec
	[ ! "$cgroup" ] || echo 0 >"$cgroup/cgroup.procs"
	"$KYMO_LOAD" --out "$TMP/grouped.json" sleep 10 1000
	[ ! "$cgroup" ] || echo 0 >"$CGROUP2/cgroup.procs"
	sleep 0.3
END
capture sched bash "$TMP/load.sh"
dump_records "$ARCHIVE"
switches >"$TMP/switches"
wakeups >"$TMP/wakeups"

between=$(awk -v ping="$(truth pingpong .ping.tid)" -v pong="$(truth pingpong .pong.tid)" '
	$4 != ping && $4 != pong { next }
	$4 != last { n++ }
	{ last = $4 }
	END { print n + 0 }' "$TMP/switches")
fact_at_least pingpong "$between" $((2 * ROUNDS)) "switches between the two"
for name in ping pong; do
	tid=$(truth pingpong ".$name.tid")
	# (those at its end come after its count)
	missing=$(($(truth pingpong ".$name | .nvcsw + .nivcsw") + 1 - $(switches_from "$tid")))
	fact "pingpong: $((missing > 0 ? missing : 0)) switches too few from $name"
done

# A sleeping thread continues because it is woken. A timer interrupt counts as no thread. (An interrupt
# may process a packet before its sender does, and then it wakes the receiver.)
for kind in futex pipe signal tcp timer; do
	awk -v sleeper="$(truth $kind .sleeper)" -v waker="$(truth $kind .waker)" -v slept="$(truth $kind .slept)" -v kind=$kind '
		$3 == sleeper { $4 > 4194304 ? none++ : $4 == waker ? right++ : other++ }
		END {
			n = kind == "timer" ? none : right + (kind == "tcp" && none < slept / 4 ? none : 0)
			print "wakeups by " kind ":", (n >= slept * 0.97 ? "all" : n " of " slept), "by",
				kind == "timer" ? "an interrupt" : "the waker", "and", (other > 3 ? other : "none"), "by others"
		}' "$TMP/wakeups" | facts
done

parent=$(truth procs .pid)
json "$SUMMARY" ".processes[] | select(.parent == $parent) | [\"process\", .name, \"exits with\", .exit_code] | map(tostring) | join(\" \")" |
	sort | facts
truth procs '.children[].pid' | sort >"$TMP/children"
for name in fork exec exit; do
	events $name | gojq -r '.args.child_process // .process_id' | sort | comm -12 - "$TMP/children" >"$TMP/found"
	fact_at_least $name "$(wc -l <"$TMP/found")" "$(wc -l <"$TMP/children")" "of the processes"
done
fact "renamed: $(json "$SUMMARY" ".threads[] | select(.tid == $(truth rename .pid)) | .name")"
fact "taken over by a thread: $(json "$SUMMARY" ".processes[] | select(.pid == $(truth threadexec .pid)) | .name")"
fact "cgroup: $(json "$SUMMARY" ".processes[] | select(.pid == $(truth grouped .pid)) | .cgroup_path" |
	sed "s/kymo-kernels-$$/NAME/")"
