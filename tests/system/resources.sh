#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Kernel resources that programs make and do not release: descriptors, mappings, shared memory,
# threads. Exactly the planted ones, with the right stacks.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../load-words.sh"
need_btf
need_command nm
need_command ipcrm

has_watch() {
	{ "$KYMO" dump --json "$1" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		holds - "map(select(.record == \"event\" and
			.name == \"watch\" and .process_id == $2)) | length >= ${3:-1}" -s
}

# begin_recording FILE OPTION ...: starts a recording, and waits until $LOAD is watched
begin_recording() {
	"$KYMO" record --direct -o "$1" -p "$LOAD" "${@:2}" 2>"$TMP/record.log" &
	RECORDER=$!
	expect_soon 20 has_watch "$1" "$LOAD"
}

end_recording() {
	kill -INT "$RECORDER"
	wait "$RECORDER" || {
		cat "$TMP/record.log" >&2
		fail "the recording failed"
	}
}

list_functions "$RESOURCE_LOAD" >"$TMP/functions"

# blocks FILE PID: prints the blocks of its snapshots in the format of the load's truth: RESOURCE
# BYTES FUNCTION ..., without the functions of the C library that make the system calls
blocks() {
	"$LIST_STACKS" "$1" | awk -v program="$RESOURCE_LOAD" -v pid="$2" '
		NR == FNR { from[NR] = $1; to[NR] = $2; name[NR] = $3; n = NR; next }
		$1 == "block" && $3 == pid && $5 != "memory" {
			line = $5 " " $4
			for (f = 7; f <= NF; f++) {
				at = substr($f, length(program) + 2)
				if (index($f, program "+") != 1)
					continue
				found = "?"
				for (i = 1; i <= n; i++)
					if (at "" > from[i] "" && at "" <= to[i] "")
						found = name[i]
				line = line " " found
			}
			print line
		}' "$TMP/functions" - | sort
}

watched() {
	dump_records "$2"
	events watched | gojq -r --argjson pid "$3" "select(.process_id == \$pid) | .args.$1"
}

# check_planted FILE REASON
check_planted() {
	blocks "$1" "$LOAD" >"$TMP/found"
	sed '/^end$/d; s/$/ work main _start/' "$TMP/truth" | sort | diff - "$TMP/found" >&2 ||
		fail "the reported leaks (>) differ from the planted ones (<)"
	assert_eq "$(watched reason "$1" "$LOAD") $(watched lost "$1" "$LOAD") $(watched full "$1" "$LOAD")" \
		"$2 0 0" "how it ended, and what is missing"
	assert_eq "$(watched no_stack "$1" "$LOAD")" 0 "items without a stack"
	assert_ge "$(watched unmatched "$1" "$LOAD")" 1 "closed items from before the recording"
	expect_exit 0 "$KYMO" check "$1"
}

is_done() {
	grep -qx end "$TMP/truth"
}

note "planted leaks, from the middle of a run"
remember_bpf
start_resource_load
begin_recording "$TMP/work.fxt" -e memory,fd,shm,threads
go
expect_soon 20 is_done
end_recording
no_bpf_left "a recording of descriptors, mappings and threads"
check_planted "$TMP/work.fxt" stop
# The last sums are those of the live resources.
dump_records "$TMP/work.fxt"
events usage | gojq -rs 'map(select(.args.resource == "fd" or .args.resource == "mapping")) |
	group_by([.args.resource, .args.stack]) | map(last.args) | group_by(.resource) |
	.[] | "\(.[0].resource) \(map(.blocks) | add) \(map(.bytes) | add)"' >"$TMP/sums"
awk '$1 == "fd" || $1 == "mapping" { n[$1]++; bytes[$1] += $2 }
	END { for (r in n) print r, n[r], bytes[r] }' "$TMP/found" | sort | diff - "$TMP/sums" >&2 ||
	fail "the last sums (>) are not what lives (<)"
# Their descriptions.
events block | gojq -r '.args | select(.resource == "fd") | "\(.function) \(.text)"' >"$TMP/texts"
for text in 'openat /dev/null' 'openat /proc/[0-9]*/status' 'memfd_create /memfd:planted' \
	'dup2 /dev/null' 'recvmsg /dev/null' 'eventfd2 anon_inode:\[eventfd\]' 'pipe2 pipe:\['; do
	assert_contains "$TMP/texts" "^$text" "the kinds of descriptors"
done
assert_eq "$(events block | gojq -r '.args | select(.resource == "shm") | .text')" "resource-load-$LOAD" \
	"the name of the shared memory object"
end_resource_load

note "a process that ends; each call"
start_resource_load exit
begin_recording "$TMP/exit.fxt" -e memory,fd,shm,threads --memory-log
go
expect_soon 20 is_done
go
expect_soon 5 has_ended "$LOAD"
end_recording
check_planted "$TMP/exit.fxt" exit
summarize "$TMP/exit.fxt"
assert_no_loss
dump_records "$TMP/exit.fxt"
for resource in fd mapping segment attachment thread; do
	assert_eq "$(($(events alloc | gojq -c "select(.args.resource == \"$resource\")" | wc -l) - \
		$(events free | gojq -c "select(.args.resource == \"$resource\")" | wc -l)))" \
		"$(grep -c "^$resource " "$TMP/found")" "allocations less frees of $resource, and blocks"
done
end_resource_load

note "threads that the exit of the program overtakes"
expect_exit 0 "$KYMO" record --direct --force -e threads -o "$TMP/crowd.fxt" -- "$RESOURCE_LOAD" crowd
dump_records "$TMP/crowd.fxt"
assert_eq "$(events block | gojq -c 'select(.args.resource == "thread")' | wc -l)" 256 "threads that nobody joined"

note "threads that exit together with the main thread of their process"
# (one of several exits is enough for a thread to be the last one while another is still exiting)
are_watched() {
	{ "$KYMO" dump --json "$TMP/crowds.fxt" 2>/dev/null || true; } |
		awk -F '"name":"watch"' 'NF > 1 { n++ } END { exit n < 129 }'
}
start_resource_load crowds
begin_recording "$TMP/crowds.fxt" -e threads
expect_soon 20 are_watched
go
expect_soon 20 has_ended "$LOAD"
end_recording
dump_records "$TMP/crowds.fxt"
events block | gojq -r 'select(.args.resource == "thread") | .process_id' | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c |
	awk '{ print $1 " x " $2 }' >"$TMP/crowds"
assert_eq "$(cat "$TMP/crowds")" "128 x 1" "threads that nobody joined, by process"
assert_eq "$(events watched | gojq -r '.args | "\(.reason) \(.lost)"' | sort | uniq -c | awk '{ print $1, $2, $3 }')" "129 exit 0" \
	"how the processes ended, and what is missing"
end_resource_load

note "a thread that an allocator makes for itself"
for memory in 'memory,' ''; do
	expect_exit 0 "$KYMO" record --direct --force -e "${memory}threads" -o "$TMP/own.fxt" -- "$RESOURCE_LOAD" allocator
	dump_records "$TMP/own.fxt"
	# (without the category memory, the allocator is unknown)
	assert_eq "$(events block | gojq -c 'select(.args.resource == "thread")' | wc -l)" "$([ "$memory" ] && echo 1 || echo 2)" \
		"threads that nobody joined, with ${memory}threads"
done

note "numbers of system calls of other tables"
if "$RESOURCE_LOAD" foreign >"$TMP/truth" 2>/dev/null; then
	# (most kernels refuse those of x32)
	# (records that find no room in a ring are counted there, too)
	for _ in {1..5}; do
		expect_recorded "$TMP/foreign.fxt" \
			"$KYMO" record --direct --force -e fd -o "$TMP/foreign.fxt" -- "$RESOURCE_LOAD" foreign
		summarize "$TMP/foreign.fxt"
		[ "$(json "$SUMMARY" '.lost.memory // 0')" -gt 0 ] || break
	done
	dump_records "$TMP/foreign.fxt"
	assert_eq "$(events watched | gojq -s "map(.args.lost) | add")" "$(cat "$TMP/truth")" "calls that may have changed something"
else
	note "not tested: this kernel has no 32-bit system calls"
fi

note "a main thread that ends: /proc lists nothing any more"
start_resource_load leave
begin_recording "$TMP/leave.fxt" -e memory,fd,shm,threads
go
expect_soon 20 is_done
go
expect_soon 5 grep -q '^State:.Z' "/proc/$LOAD/status"
end_recording
check_planted "$TMP/leave.fxt" stop
end_resource_load

note "a child, and exec"
start_resource_load family
begin_recording "$TMP/family.fxt" -e fd
go
child_of() {
	pgrep -P "$LOAD" >"$TMP/child"
}
expect_soon 10 child_of
child=$(cat "$TMP/child")
expect_soon 10 has_watch "$TMP/family.fxt" "$child"
go
expect_soon 10 has_watch "$TMP/family.fxt" "$child" 2
go
expect_soon 5 is_asleep "$child"
go
expect_soon 20 is_done
end_recording
blocks "$TMP/family.fxt" "$LOAD" >"$TMP/found"
echo "fd 1 leak_open family main _start" | diff - "$TMP/found" >&2 || fail "descriptors of the parent"
blocks "$TMP/family.fxt" "$child" >"$TMP/found"
printf 'fd 1 %s\n' "leak_eventfd grown main _start" "leak_socket in_child family main _start" | diff - "$TMP/found" >&2 ||
	fail "descriptors of the child's two programs"
end_resource_load
