#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo export --format perfetto`: Perfetto shows the same events, with the same arguments, as of
# the archive: allocations, requests of block devices, calls, moments, tracepoints, triggers, and
# events of programs with flows, counters and log lines.

. "$(dirname "$0")/../lib.sh"
need_btf
need_perfetto

cat >"$TMP/load.sh" <<-END
	dd if=/dev/zero of="$TMP/file" bs=64k count=20 conv=fsync 2>/dev/null
	"$KYMO_LOAD" --out "$TMP/procs.json" procs 20
	sleep 0.05
END
record_around "$TMP/t.fxt" -b 32M -e default,offcpu,block,fd,moments,tp:sched:sched_process_exec \
	--memory-log --trigger offcpu=5ms --call "libc.so.6:strdup(str s) -> ptr" --moment libc.so.6:strdup \
	--comm bash -- bash "$TMP/load.sh"
expect_exit 0 "$KYMO" export "$TMP/t.fxt" -o "$TMP/t.pftrace"
golden=$ROOT/tests/golden/fxt/everything.fxt
expect_exit 0 "$KYMO" export "$golden" -o "$TMP/golden.pftrace"

# (Of numbers from 2^63 on, Perfetto shows other ones of an archive: it reads them with a sign. The
# exports' own forms of marks, losses and clocks differ, and flows are instants of their own. Perfetto
# nests instants of one time, and forgets the arguments of those that are nested too deep. An archive
# has more of them, its stacks. A busy machine reports the sums of a whole process at one time.)
questions=(
	"select s.ts, s.dur, s.name, s.category, t.tid,
		iif(count(*) over (partition by s.ts, s.track_id) > 100, 'many at one time',
		(select group_concat(k || '=' || v, ' ') from
		(select substr(key, instr(key, '.') + 1) k,
		iif(int_value < 0, int_value, display_value) v
		from args a where a.arg_set_id = s.arg_set_id and
		substr(key, instr(key, '.') + 1) not in ('stack', 'call stack', 'id', 'blob', 'no blob') order by 1))) args
		from slice s join thread_track p on s.track_id = p.id join thread t using (utid)
		where s.name not in ('migrate', 'mapping', 'stack', 'frame', 'mark', 'lost', 'clock')
		and s.category not in ('irq', 'softirq') order by 1, 2, 3"
	"select t.name, c.ts, c.value, p.pid from counter c join process_counter_track t on c.track_id = t.id
		join process p using (upid) where t.name not glob 'lost*' order by 1, 2"
)
flows="select o.ts begin, i.ts end from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in order by 1"
perfetto "$TMP/t.fxt" "${questions[@]}" -- "$TMP/t.pftrace" "${questions[@]}" \
	-- "$golden" "${questions[@]}" "$flows" -- "$TMP/golden.pftrace" "${questions[@]}" "$flows" >"$TMP/answers"

# rows N [FILTER]: the rows of answer N, one a line
rows() {
	sed -n "$1p" "$TMP/answers" | gojq -c ".[] | ${2:-.}" | sort
}

# same ARCHIVE EXPORT WHAT N [FILTER]: compares two answers, of at least N rows
same() {
	rows "$1" "${5:-.}" >"$TMP/archive"
	rows "$2" "${5:-.}" >"$TMP/export"
	diff "$TMP/archive" "$TMP/export" >"$TMP/difference" || true
	assert_empty "$TMP/difference" "differences of $3"
	assert_ge "$(wc -l <"$TMP/export")" "$4" "$3"
	note "$(wc -l <"$TMP/export") $3"
}

same 1 3 "events of a recording" 50
for name in alloc free watch offcpu strdup fork exec exit sched:sched_process_exec session_start; do
	rows 3 | gojq -r .name >"$TMP/names"
	grep -qx "$name" "$TMP/names" || fail "there is no event $name"
done
if grep -qx write "$TMP/names"; then
	rows 3 | gojq -c 'select(.category == "block")' >"$TMP/requests"
	holds "$TMP/requests" '.args | test("bytes=[0-9]+ .*sector=")' || fail "requests without arguments"
else
	note "not tested: no request of a block device"
fi
# Of the golden archive, flows (at 2100, 2500, 2900) and log lines (at 5000, 5001) are instants.
instants='[2100, 2500, 2900, 5000, 5001] as $own | select(.ts as $ts | any($own[]; . == $ts)'
same 5 8 "events of programs" 5 "$instants | not)"
assert_eq "$(rows 5 "$instants)" | wc -l) $(rows 8 "$instants)" | wc -l)" "0 5" "instants of flows and log lines"
same 6 9 "counters of programs" 2
# The instants of flows lie in the slices that the archive's flows connect.
assert_eq "$(rows 7 | wc -l) $(rows 10 | wc -l)" "2 2" "flows of the archive and of the export"
