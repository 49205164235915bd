#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo export --format perfetto` of waits: Perfetto shows the kernel function in which a thread
# waits, the one that the kernel itself names, and whether the wait is for I/O.

. "$(dirname "$0")/../lib.sh"
need_btf
need_perfetto

[ "$(id -u)" = 0 ] || skip "only root sees the names of kernel functions"

# export_named FILE: exports FILE, with names, as $TMP/t.pftrace
export_named() {
	expect_exit 0 "$KYMO" symbolize "$1" "$TMP/named.fxt" --force
	expect_exit 0 "$KYMO" export "$TMP/named.fxt" -o "$TMP/t.pftrace" --force
}

# waits TID FUNCTION: the number of waits of the thread in a function whose name matches
waits() {
	perfetto "$TMP/t.pftrace" "select count(*) n from thread_state s join thread t using (utid)
		where t.tid = $1 and s.blocked_function glob '$2'" | gojq '.[0].n'
}

note "planted waits"
record_around "$TMP/t.fxt" -e sched,offcpu --offcpu-min 5ms -- "$STACK_LOAD" wait 20
json "$TMP/stdout" '.waits[] | [.name, .tid, .n] | @tsv' >"$TMP/truth"
assert_ge "$(wc -l <"$TMP/truth")" 3 "kinds of waits"
export_named "$TMP/t.fxt"
# (names that the kernels from 6.1 on have had)
declare -A functions=([wait_in_sleep]='*nanosleep*' [wait_in_futex]='futex_*wait*' [wait_in_read]='*pipe_read'
	[wait_in_fault]='handle_userfault')
while read -r name tid n; do
	found=$(waits "$tid" "${functions[$name]}")
	note "$name: $n waits, $found in ${functions[$name]}"
	assert_ge "$found" $((n * 3 / 4)) "waits of $name"
	assert_eq "$(waits "$tid" '*' | awk -v n="$found" '{ print $1 - n <= 2 }')" 1 "few other waits of $name"
done <"$TMP/truth"
perfetto "$TMP/t.pftrace" "select name, idx, value from stats where value != 0 and severity in ('error', 'data_loss')" \
	"select count(*) n from thread_state where io_wait and state not in ('D')" \
	"select count(*) n from thread_state s join thread t using (utid) where t.name = 'stack-load' and
		s.io_wait and s.blocked_function not glob '*folio*'" >"$TMP/answers"
assert_eq "$(sed -n 1p "$TMP/answers")" "[]" "errors of import"
assert_eq "$(sed -n 3p "$TMP/answers" | gojq '.[0].n')" 0 "planted waits that are for I/O"

note "each wait of the archive has its function"
dump_records "$TMP/named.fxt"
gojq -r 'select(.record == "event" and .name == "offcpu" and .category == "profile") | .args |= from_entries |
	select(.args.state != "R" and .args.begun == null) | .thread_id' \
	"$DUMP" >"$TMP/offcpu"
all=$(wc -l <"$TMP/offcpu")
shown=$(perfetto "$TMP/t.pftrace" "select count(*) n from thread_state where blocked_function is not null" | gojq '.[0].n')
note "$shown of $all waits of the archive have a function"
assert_ge "$shown" $((all * 9 / 10)) "waits with a function"
assert_le "$shown" "$all" "waits with a function"

note "page faults that wait for a disk"
dd if=/dev/zero of="$TMP/pages" bs=1M count=16 2>/dev/null
sync "$TMP/pages"
record_around "$TMP/disk.fxt" -e sched,offcpu --offcpu-min 1us -- "$STACK_LOAD" disk "$TMP/pages"
slept=$(json "$TMP/stdout" .disk_waits) pid=$(json "$TMP/stdout" .pid)
export_named "$TMP/disk.fxt"
found=$(perfetto "$TMP/t.pftrace" "select count(*) n from thread_state s join thread t using (utid)
	where t.tid = $pid and s.state = 'D' and s.io_wait = 1 and s.blocked_function is not null" | gojq '.[0].n')
note "$slept waits for the disk, $found with io_wait"
if [ "$slept" -ge 50 ]; then
	assert_ge "$found" $((slept * 8 / 10)) "waits for the disk"
else
	note "not tested: the file is never out of memory here, or the disk is as fast"
fi
