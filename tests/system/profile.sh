#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Samples of running threads: complete stacks, in correct proportions, and each frame in a mapping
# of its process: of short processes, of libraries that are loaded late, of processes in other
# namespaces.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_bus
need_command nm unshare

# take FILE [record option ...] -- COMMAND ...: records, and writes the stacks to $STACKS and the
# mappings to $MAPPINGS
take() {
	record_around "$@"
	cp "$TMP/stdout" "$TMP/truth.json"
	list_stacks "$1"
}

list_stacks() {
	"$LIST_STACKS" "$1" >"$TMP/list"
	STACKS=$TMP/stacks
	MAPPINGS=$TMP/mappings
	grep '^tick' "$TMP/list" >"$STACKS" || true
	grep '^mapping' "$TMP/list" >"$MAPPINGS" || true
	summarize "$1"
	assert_no_loss
}

# The functions of $STACK_LOAD in its file: start, end, name (16 digits, so that text comparison
# works).
nm -S "$STACK_LOAD" | while read -r at size type name; do
	case $type in
	[tT]) printf '%016x %016x %s\n' "0x$at" "$((0x$at + 0x$size))" "$name" ;;
	esac
done >"$TMP/functions"

# Names the frames of $STACKS that are in $STACK_LOAD: pid, then function, function, ... innermost
# first.
name_frames() {
	awk -v program="$STACK_LOAD" '
		NR == FNR { from[NR] = $1; to[NR] = $2; name[NR] = $3; n = NR; next }
		{
			line = $3
			for (f = 5; f <= NF; f++) {
				if (index($f, program "+") != 1) {
					line = line " ."
					continue
				}
				at = substr($f, length(program) + 2)
				found = "?"
				for (i = 1; i <= n; i++)
					# (a return address may be the address after the last
					# instruction)
					if (at "" >= from[i] "" && at "" <= to[i] "")
						found = name[i]
				line = line " " found
			}
			print line
		}' "$TMP/functions" "$STACKS"
}

note "whole stacks, and shares"
record_chain() {
	stolen=$(stolen_ns cpu)
	take "$TMP/chain.fxt" -e sched,profile -F 997 -- "$STACK_LOAD" chain 2000
	stolen=$(($(stolen_ns cpu) - stolen))
	pid=$(json "$TMP/truth.json" .pid)
	name_frames | awk -v pid="$pid" '$1 == pid && / leaf_/' >"$TMP/named"
	counted=$(wc -l <"$TMP/named")
}
judge_chain() {
	assert_samples "$counted" 997 "$(json "$TMP/truth.json" '.leaf_ns | add')" "$(thread "$pid" cpu_ns)" 6 \
		"samples in 2 s of CPU time"
}
# (with hidden switches, the schedule lacks CPU time)
record_and_judge "$TMP/chain.fxt" record_chain judge_chain
chain=$(printf ' chain_%s' 12 11 10 9 8 7 6 5 4 3 2 1)
whole=$(grep -c " leaf_[abc]$chain burn main " "$TMP/named" || true)
# An interrupt of a leaf function has its own frames before it. No frame after it may be missing.
assert_ge $((100 * whole)) $((98 * counted)) "samples with the whole chain (of $counted)"
named_leaf() {
	grep -c " $1 " "$TMP/named" || true
}
assert_leaf_shares named_leaf "$counted" "$stolen"

note "kernel frames are in the kernel's text"
grep -o 'kernel:[0-9a-f]*' "$STACKS" | sort -u >"$TMP/kernel"
grep ' \[kernel\.kallsyms\]$' "$MAPPINGS" >"$TMP/text" || true
if [ -s "$TMP/text" ]; then
	assert_ge "$(wc -l <"$TMP/kernel")" 3 "different kernel frames"
	start=$(grep -m1 ' _stext$' /proc/kallsyms | cut -d' ' -f1)
	end=$(grep -m1 ' _etext$' /proc/kallsyms | cut -d' ' -f1)
	assert_eq "$(awk '{ print $4 }' "$TMP/text")" "$start" "start of the kernel's text"
	# Modules and kymo's own programs are at other addresses.
	outside=$(awk -v s="$start" -v e="$end" '{ a = substr($0, 8) } a < s || a > e' "$TMP/kernel" | wc -l)
	assert_le $((100 * outside)) $((5 * $(wc -l <"$TMP/kernel"))) "kernel frames outside of its text"
	assert_eq "$(awk '{ print length($8) }' "$TMP/text")" 40 "digits of the kernel's build id"
else
	note "not tested: addresses of the kernel are hidden"
fi

note "short processes"
take "$TMP/burst.fxt" -e sched,profile -F 499 -- "$STACK_LOAD" burst 500 5
json "$SUMMARY" '.events.exec' >"$TMP/execs"
assert_ge "$(cat "$TMP/execs")" 500 "execs"
name_frames >"$TMP/named"
processes=$(awk '/ spin_step / { print $1 }' "$TMP/named" | sort -u | wc -l)
note "$processes of the 500 were sampled in their loop"
assert_ge "$processes" 300 "processes that were sampled"
awk '{ print $1 }' "$TMP/named" | sort -u >"$TMP/ours"
awk '/stack-load$/ { print $3 }' "$MAPPINGS" | sort -u >"$TMP/mapped"
assert_ge "$(wc -l <"$TMP/mapped")" 500 "processes with a mapping of the program"
# Registers without a frame pointer lead to arbitrary addresses: only the innermost frame of the
# program counts, and frames of stacks of our own code.
grep 'stack-load+' "$STACKS" | grep -v 'kernel:' >"$TMP/user" || true
all=$(awk '{ n += NF - 4 } END { print n }' "$TMP/user")
lost=$({ grep -o 'unmapped:' "$TMP/user" || true; } | wc -l)
note "$lost of $all user frames are in no mapping"
assert_le $((100 * lost)) "$all" "user frames that are in no mapping (in 100)"
innermost=$(awk '{ for (f = 5; f <= NF && $f ~ /^kernel:/; f++); if (f <= NF) print $f }' "$STACKS" | tee "$TMP/innermost" | wc -l)
lost=$(grep -c '^unmapped:' "$TMP/innermost" || true)
note "$lost of $innermost innermost user frames are in no mapping, of all processes"
assert_le $((100 * lost)) "$innermost" "innermost frames that are in no mapping (in 100)"

note "a library that is loaded late"
record_library() {
	take "$TMP/library.fxt" -e sched,profile,offcpu -F 499 -- "$STACK_LOAD" library "$STACK_LIBRARY" 1000
}
# Its first wait is the first walk through it, and has all callers. (A wait whose switch the kernel
# hides is not recorded.)
judge_first_wait() {
	expect_exit 0 "$KYMO" flame --off-cpu --format folded -o - "$TMP/library.fxt"
	grep -E '^stack-load;.*;library_wait;' "$TMP/stdout" >"$TMP/first" ||
		fail "no wait in the library: $(grep '^stack-load;' "$TMP/stdout")"
	assert_eq "$(grep -cE '^stack-load;_start;.*;main;use_library;library_wait;' "$TMP/first")" \
		"$(wc -l <"$TMP/first")" "waits in the library with all callers"
}
record_and_judge "$TMP/library.fxt" record_library judge_first_wait
n=$(grep -cF "$STACK_LIBRARY+" "$STACKS" || true)
assert_samples "$n" 499 "$(json "$TMP/truth.json" .cpu_ns)" "$(thread "$(json "$TMP/truth.json" .pid)" cpu_ns)" 15 \
	"samples in the library"
assert_ge "$(grep -c "$STACK_LIBRARY\$" "$MAPPINGS")" 1 "mappings of the library"
build_id=$(readelf -n "$STACK_LIBRARY" 2>/dev/null | sed -n 's/.*Build ID: //p')
[ -z "$build_id" ] ||
	assert_eq "$(awk '/stack-library/ { print $8 }' "$MAPPINGS" | sort -u)" "$build_id" "build id"

note "workers of the kernel that belong to a program have no user stack"
cat >"$TMP/ring.c" <<-'END'
	#include <fcntl.h>
	#include <linux/io_uring.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	#define AT(offset) ((volatile unsigned *)(ring + p.offset))
	static char bytes[16 << 20];
	int main(void)
	{
		struct io_uring_params p = { 0 };
		int fd = (int)syscall(SYS_io_uring_setup, 4, &p), zero = open("/dev/zero", O_RDONLY);
		size_t size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
		char *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
		struct io_uring_sqe *sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
		if (fd < 0 || ring == MAP_FAILED || sqe == MAP_FAILED)
			return 77;
		for (unsigned i = 0; i < 150; i++) {
			*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .flags = IOSQE_ASYNC, .fd = zero,
						      .addr = (unsigned long)bytes, .len = sizeof(bytes) };
			AT(sq_off.array)[*AT(sq_off.tail) & *AT(sq_off.ring_mask)] = 0;
			__sync_fetch_and_add(AT(sq_off.tail), 1);
			if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
				return 77;
			*AT(cq_off.head) = *AT(cq_off.tail);
		}
		return 0;
	}
END
gcc -O2 -o "$TMP/ring" "$TMP/ring.c"
if "$TMP/ring"; then
	expect_exit 0 "$KYMO" record --direct -e profile -F 499 -o "$TMP/ring.fxt" -- "$TMP/ring"
	expect_exit 0 "$KYMO" flame --format folded -o - "$TMP/ring.fxt"
	assert_ge "$(grep -c '^ring;ret_from_fork[^;]*;.*io_wq_worker' "$TMP/stdout")" 1 "stacks of workers"
	assert_eq "$(grep -c '^ring;\[unknown\]' "$TMP/stdout")" 0 "stacks with an unknown root"
else
	note "not tested (no io_uring)"
fi

note "32-bit programs are walked by frame pointers, and counted as such"
cat >"$TMP/narrow.s" <<-'END'
	.globl _start
	_start: mov $800000000, %ecx
	1: dec %ecx
	jnz 1b
	mov $1, %eax
	xor %ebx, %ebx
	int $0x80
END
if gcc -m32 -nostdlib -static -o "$TMP/narrow" "$TMP/narrow.s" 2>/dev/null && "$TMP/narrow"; then
	expect_exit 0 "$KYMO" record --direct -e profile -F 499 -p 1 -o "$TMP/narrow.fxt" -- "$TMP/narrow"
	summarize "$TMP/narrow.fxt"
	assert_ge "$(json "$SUMMARY" '.stacks.frame_pointers')" 10 "walks by frame pointers"
else
	note "not tested (no 32-bit programs)"
fi

note "a process in namespaces of its own, with a library of its own"
libc=$(ldd "$STACK_LOAD" | awk '$1 ~ /^libc\./ { print $3 }')
if [ "$libc" ] && unshare -mpf true 2>/dev/null; then
	mkdir "$TMP/own"
	cp "$libc" "$TMP/own/libc.copy"
	inode=$(stat -c %i "$TMP/own/libc.copy")
	take "$TMP/ns.fxt" -e profile -F 499 --comm stack-load -- unshare -mpf bash -c \
		'mount --bind "$1" "$(readlink -f "$2")" && "$3" chain 800' \
		bash "$TMP/own/libc.copy" "$libc" "$STACK_LOAD"
	# (other processes may have this name)
	pid=$(awk -v program="$STACK_LOAD" '$NF == program { print $3; exit }' "$MAPPINGS")
	# (before its exec, the process was another program, with another library)
	awk -v pid="$pid" -v program="$STACK_LOAD" '$3 == pid && $NF == program { on = 1 } on && $3 == pid' "$MAPPINGS" >"$TMP/its"
	mv "$TMP/its" "$MAPPINGS"
	assert_eq "$(awk -v pid="$pid" '$3 == pid && /\/libc/ { sub(/.*:/, "", $7); print $7 }' \
		"$MAPPINGS" | sort -u)" "$inode" "inode of the copy"
	assert_eq "$(awk -v pid="$pid" '$3 == pid && /\/libc/ { print $9 }' "$MAPPINGS" | sort -u)" \
		"$(readlink -f "$libc")" "path, as that process has it"
	name_frames | awk -v pid="$pid" '$1 == pid && / leaf_/' >"$TMP/named"
	assert_ge "$(wc -l <"$TMP/named")" $(($(samples_due "$TMP/truth.json" 499) * 2 / 3)) "samples of it"
	# (the time until its table is there depends on the machine)
	whole=$(grep -c ' leaf_.* main ' "$TMP/named" || true)
	assert_le $(($(wc -l <"$TMP/named") - whole)) "$(json "$SUMMARY" .stacks.no_table)" \
		"samples without their callers, and those that ended before there was a table"
	assert_eq "$(tail -1 "$TMP/named" | grep -c ' leaf_.* main ')" 1 "whole stacks at its end"
else
	note "not tested: no namespaces"
fi

note "only what a filter selects"
start_bus
start_kymod
record_selected() {
	rm -f "$TMP/filter.fxt"
	start_stack_load chain 1000
	"$STACK_LOAD" spin 3000 & # not selected
	expect_exit 0 "$KYMO" start one -o "$TMP/filter.fxt" -e sched,profile -F 499 -p "$STACK_LOAD_PID" --bus "$BUS"
	go_stack_load
	expect_exit 0 "$KYMO" stop one --bus "$BUS"
	end_stack_load
	list_stacks "$TMP/filter.fxt"
}
judge_selected() {
	assert_samples "$(wc -l <"$STACKS")" 499 "$(json "$TMP/stack-load.json" '.leaf_ns | add')" \
		"$(thread "$STACK_LOAD_PID" cpu_ns)" 10 "samples of the process"
}
record_and_judge "$TMP/filter.fxt" record_selected judge_selected
assert_eq "$(awk '{ print $3 }' "$STACKS" | sort -u)" "$STACK_LOAD_PID" "processes with samples"
assert_eq "$(awk '$3 != 2 { print $3 }' "$MAPPINGS" | sort -u)" "$STACK_LOAD_PID" \
	"processes with mappings"
assert_eq "$({ grep -c unmapped: "$STACKS" || true; })" 0 "stacks with a frame in no mapping"
if awk '$3 == 2' "$MAPPINGS" | grep . >/dev/null; then
	dump_records "$TMP/filter.fxt"
	assert_eq "$(gojq -r 'select(.record == "kernel_object" and .koid == 2 and .kernel_object_type == 1) | .name' "$DUMP" |
		sort -u)" kthreadd "name of the process that the kernel's mappings are said of"
fi

note "by name, of a process that gets it with its program"
take "$TMP/comm.fxt" -e profile -F 499 --comm stack-load -- "$STACK_LOAD" chain 300
assert_ge "$(grep -c ' leaf_.* main ' <(name_frames))" $(($(samples_due "$TMP/truth.json" 499) * 4 / 5)) "samples with the whole chain"

note "Perfetto has as many"
if (need_perfetto) >/dev/null; then
	list_stacks "$TMP/filter.fxt"
	n=$(wc -l <"$STACKS")
	perfetto "$TMP/filter.fxt" "select count(*) as n from perf_sample" \
		"select count(*) as n from stats where severity = 'error' and value > 0" >"$TMP/answers"
	assert_eq "$(sed -n 1p "$TMP/answers" | gojq '.[0].n')" "$n" "rows of perf_sample"
	assert_eq "$(sed -n 2p "$TMP/answers" | gojq '.[0].n')" 0 "errors of the import"
fi
expect_exit 0 "$KYMO" record --direct --no-perfetto-blobs -e profile -d 300ms -o "$TMP/bare.fxt"
assert_eq "$(grep -ac perfetto_samples <(strings "$TMP/bare.fxt"))" 1 "only the name, in the table"

note "a program whose file was removed: its name has no mark of the kernel in any view"
cp "$STACK_LOAD" "$TMP/removed"
"$TMP/removed" chain 20000 >"$TMP/removed.json" &
pid=$!
expect_soon 5 grep -q "$TMP/removed" "/proc/$pid/maps"
rm "$TMP/removed"
expect_recorded "$TMP/removed.fxt" "$KYMO" record --direct -e profile -F 499 -d 1 -p $pid -o "$TMP/removed.fxt"
# (with and without the symbols of the file, which /proc leads to)
expect_exit 0 "$KYMO" symbolize "$TMP/removed.fxt" "$TMP/symbolized.fxt"
kill $pid
for archive in removed symbolized; do
	for format in folded svg speedscope; do
		expect_exit 0 "$KYMO" flame --format $format --no-symbols -o - "$TMP/$archive.fxt"
		assert_says "$TMP/stdout" removed
		! grep -F '(deleted)' "$TMP/stdout" || fail "the kernel's mark in $format of $archive"
	done
done
dump_records "$TMP/symbolized.fxt"
events frame | gojq -r .args.module >"$TMP/modules"
assert_says "$TMP/modules" "$TMP/removed"
! grep -F '(deleted)' "$TMP/modules" || fail "the kernel's mark in names of the archive"
