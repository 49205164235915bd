#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Perfetto reads the samples of an archive, with their threads, functions, files and build ids.

. "$(dirname "$0")/../lib.sh"
need_perfetto
need_command gojq

errors="select name, value from stats where value != 0 and
	(name glob 'fuchsia*' or severity in ('error', 'data_loss'))"
frames="select distinct f.name, m.name as mapping, m.build_id, s.source_file, s.line_number
	from stack_profile_frame f join stack_profile_mapping m on f.mapping = m.id
	left join stack_profile_symbol s using (symbol_set_id)"
# The stack of each sample, innermost first.
stacks="with recursive calls(sample, ts, depth, parent, frame) as (
		select p.id, p.ts, c.depth, c.parent_id, c.frame_id from perf_sample p
			join stack_profile_callsite c on p.callsite_id = c.id
		union all select sample, ts, c.depth, c.parent_id, c.frame_id from calls
			join stack_profile_callsite c on calls.parent = c.id)
	select sample, ts, group_concat(name, '<') as stack from
		(select sample, ts, f.name from calls join stack_profile_frame f on frame = f.id
			order by sample, depth desc) group by sample order by ts, stack"

perfetto "$ROOT/tests/golden/fxt/profile.fxt" "$errors" \
	"select count(*) n from perf_sample" \
	"select t.tid, count(*) n from perf_sample join thread t using (utid) group by 1 order by 1" \
	"select cpu, cpu_mode, count(*) n from perf_sample group by 1, 2 order by 1, 2" \
	"$frames" "$stacks" \
	-- "$ROOT/tests/golden/fxt/profile-bare.fxt" "$errors" \
	"select m.name, count(*) n from perf_sample p join stack_profile_callsite c
		on p.callsite_id = c.id join stack_profile_frame f on c.frame_id = f.id
		join stack_profile_mapping m on f.mapping = m.id group by 1 order by 1" >"$TMP/answers"
answer() {
	sed -n "$1p" "$TMP/answers"
}

assert_eq "$(answer 1)" '[]' "errors of import"
assert_eq "$(answer 2)" '[{"n":15}]' "samples"
assert_eq "$(answer 3 | gojq -c '[.[] | [.tid, .n]]')" \
	'[[0,1],[12,2],[100,6],[101,2],[200,2],[300,2]]' "samples of threads"
assert_eq "$(answer 4 | gojq -c '[.[] | [.cpu, .cpu_mode, .n]]')" \
	'[[0,"kernel",1],[0,"unknown",1],[0,"user",8],[1,"kernel",3],[1,"user",2]]' "samples of CPUs"
assert_eq "$(answer 5 | gojq -c '.[] | select(.name == "hash" or .name == "vfs_read") |
	[.mapping, .build_id, .source_file, .line_number]')" \
	'["/usr/bin/app","aabbccddee","/src/app.c",32]
["/[kernel.kallsyms]","11223344",null,null]' "functions"
answer 6 | gojq -r '.[].stack' >"$TMP/stacks"
assert_eq "$(sed -n 1p "$TMP/stacks")" 'ext4_file_read_iter<vfs_read<do_syscall_64<read<read_all' \
	"the stack of a sample"
assert_eq "$(grep -c '^mix(unsigned int)<hash<work<main$' "$TMP/stacks")" 3 "inlined functions"
# Without names there are the files.
assert_eq "$(answer 7)" '[]' "errors of import"
assert_eq "$(answer 8 | gojq -c '[.[] | select(.name | startswith("/tmp") | not) | [.name, .n]]')" \
	'[["/[ext4]",2],["/[kernel.kallsyms]",2],["/[unknown]",1],["/bin/true",1],["/usr/bin/app",5],["/usr/lib/plugin.so",1]]' \
	"samples of files"
