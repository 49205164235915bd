#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stack that could not be walked reliably shows which of its frames are in doubt, and why: by
# frame pointers, and by tables if functions are not described. Nothing is in doubt in libraries whose
# tables are made only after their first allocations. Libraries that are at the same addresses, one
# after the other, are not mistaken for each other. A program whose mappings change all the time has
# few copied stacks.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../unwind-words.sh"
need_btf
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "the load is written for x86-64"

# stack BYTES: prints for each frame the function, whether it is in doubt, and the call's target,
# one per row. Also prints whether the stack is complete.
stack() {
	gojq -r --argjson bytes "$1" '.processes[].leaks[] | select(.bytes == $bytes) |
		(.frames[] | select(.function | startswith("__libc") | not) |
			"\(.function) \(.uncertain) \(.calls)"), "complete \(.stack_complete)"' "$TMP/stdout"
}

# ended_unwatched FILE: whether a program in FILE ended before kymo knew its files. A slow recorder
# learns of a short program after its end, and says so.
ended_unwatched() {
	{ "$KYMO" leaks --json --allow-unwatched --no-symbols "$1" 2>/dev/null || true; } |
		holds - 'any(.processes[]; .unwatched // .gap // "" | test("it ended before "))'
}

# watched_leaks FILE [option ...] -- COMMAND ...: kymo leaks records COMMAND to FILE. Repeated up to
# five times if COMMAND ended before kymo knew its files.
watched_leaks() {
	local file=$1 n

	shift
	for n in 1 2 3 4 5; do
		expect_exit 0 "$KYMO" leaks --direct -e memory --force -o "$file" "$@"
		ended_unwatched "$file" || return 0
		note "disturbed (try $n): the program ended before its files were known"
	done
	fail "in $n recordings, the program ended before its files were known"
}

# look HOW: records and reports with stacks of kind HOW
look() {
	note "stacks by $1"
	watched_leaks "$TMP/$1.fxt" --stacks "$1" -- "$DOUBT_LOAD"
	cp "$TMP/stdout" "$TMP/report"
	expect_exit 0 "$KYMO" leaks --json "$TMP/$1.fxt"
}

# check BYTES: checks that the stack of the block equals standard input
check() {
	diff - <(stack "$1") >&2 || fail "the stack of $1 bytes is not as it should be (<)"
}

look fp
note "two functions that jump to malloc()"
check 1001 <<-END
	main true jumps_first
	complete true
END
check 1002 <<-END
	main true jumps_second
	complete true
END

note "a function that is missed"
check 1003 <<-END
	frameless false null
	main true missed
	complete true
END

note "a frame that is none"
check 1004 <<-END
	clobbers false null
	bogus true below
	complete false
END

note "nothing is in doubt"
check 1005 <<-END
	right false null
	main false null
	complete true
END

note "the report says so, too"
assert_contains "$TMP/report" '^      \? main  .* \(calls jumps_first\)$' "the frame that has jumped on"
assert_contains "$TMP/report" '^      \? bogus .*\(calls below\)$' "the frame that is none"
assert_eq "$(grep -c 'callers unknown' "$TMP/report")" 1 "stacks that are not whole"
assert_eq "$(grep -c '^      ? ' "$TMP/report")" 5 "doubts"

look eh
note "where each function is described, its callers are known to where the program begins"
check 1001 <<-END
	main true jumps_first
	_start false null
	complete true
END
check 1002 <<-END
	main true jumps_second
	_start false null
	complete true
END
check 1005 <<-END
	right false null
	main false null
	_start false null
	complete true
END

note "where one is described by nothing, frame pointers are followed"

# New files have no tables yet, and their many functions make them late.
cat >"$TMP/late-wrapper.c" <<-'END'
	#include <stdlib.h>
	#define MANY ".text\n.rept 2000\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\npop %rbp\n"
	__asm__(MANY ".cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.endr\n");
	void *late_new(size_t n);
	void *late_new(size_t n)
	{
		char *block = malloc(n);
		__asm__ volatile("" : : "r"(block) : "memory");
		return block;
	}
END
cat >"$TMP/late-library.c" <<-'END'
	#include <fcntl.h>
	#include <stddef.h>
	#define NOINLINE __attribute__((noinline, noipa))
	#define MANY ".text\n.rept 2000\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\npop %rbp\n"
	__asm__(MANY ".cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.endr\n");
	void *late_new(size_t n);
	NOINLINE void late_first(void)
	{
		for (int i = 0; i < 6; i++)
			late_new(501);
	}
	NOINLINE void late_second(void)
	{
		for (int i = 0; i < 7; i++)
			late_new(502);
	}
	NOINLINE void late_files(void)
	{
		for (volatile int i = 0; i < 3; i++)
			open("/dev/null", O_RDONLY);
	}
	void late_all(void)
	{
		late_first();
		late_second();
		late_files();
		__asm__ volatile("");
	}
END
cat >"$TMP/late-main.c" <<-'END'
	#include <dlfcn.h>
	#include <unistd.h>
	__attribute__((noinline)) void load(const char *path)
	{
		void (*all)(void) = (void (*)(void))dlsym(dlopen(path, RTLD_NOW), "late_all");
		all();
		__asm__ volatile("");
	}
	int main(int argc, char **argv)
	{
		char byte;
		if (argc != 2 || read(0, &byte, 1) != 1)
			return 2;
		load(argv[1]);
		return read(0, &byte, 1) != 1;
	}
END
gcc -O2 -fomit-frame-pointer -shared -fPIC -o "$TMP/libwrapper.so" "$TMP/late-wrapper.c"
gcc -O2 -fomit-frame-pointer -shared -fPIC -o "$TMP/liblate.so" "$TMP/late-library.c" -L"$TMP" -lwrapper \
	-Wl,-rpath,'$ORIGIN'
gcc -O2 -o "$TMP/late" "$TMP/late-main.c"

# late_stacks: prints blocks, bytes, whether the stack is complete, and the library's functions
late_stacks() {
	gojq -r '.processes[].leaks[] | [.frames[].function] as $names |
		select($names | any(startswith("late_"))) |
		"\(.resource) \(.blocks) \(.bytes) \(.stack_complete) " +
			([$names[] | select(test("^(late_.*|load|main)$"))] | join(";"))' "$TMP/stdout" | sort
}

# late_waits: the program has begun, or has loaded its library, and waits
late_waits() {
	# (before its exec, its process is kymo, and waits, too)
	late=$(pgrep -P "$job" -x late) && [ "$(readlink "/proc/$late/exe")" = "$TMP/late" ] && is_asleep "$late" &&
		[[ $(cat "/proc/$late/wchan") == *pipe* ]]
}

# record_late DIR: records the program with copies of the libraries in DIR. They have no tables yet
# when they allocate, since the recorder stands still.
record_late() {
	local fd

	mkdir "$1"
	cp "$TMP/liblate.so" "$TMP/libwrapper.so" "$1/"
	exec {fd}<>"$TMP/late.fifo"
	"$KYMO" leaks --direct --resource memory,fd -o "$TMP/late.fxt" -- "$TMP/late" "$1/liblate.so" \
		<"$TMP/late.fifo" >"$TMP/late.log" 2>&1 &
	job=$!
	expect_soon 20 late_waits
	kill -STOP "$job"
	echo >&"$fd"
	expect_soon 20 grep -qF "$1/liblate.so" "/proc/$late/maps"
	expect_soon 20 late_waits
	kill -CONT "$job"
	# (the files of a program that has ended cannot be read)
	expect_soon 20 has_tables "$1/liblate.so"
	expect_soon 20 has_tables "$1/libwrapper.so"
	echo >&"$fd"
	wait $job || {
		cat "$TMP/late.log" >&2
		fail "the recording failed"
	}
	exec {fd}>&-
	dump_records "$TMP/late.fxt"
	stacks_copied=$(events session_stacks | gojq '.args.stacks_copied // 0')
}

note "libraries that allocate as soon as they are loaded"
mkfifo "$TMP/late.fifo"
record_late "$TMP/at-once"
note "stacks that were copied: $stacks_copied"
assert_ge "$stacks_copied" 1 "copied stacks"
expect_exit 0 "$KYMO" leaks --json "$TMP/late.fxt"
diff - <(late_stacks) >&2 <<-END || fail "allocations in a library that has just been loaded (<)"
	fd 3 3 true late_files;late_all;load;main
	memory 6 3006 true late_new;late_first;late_all;load;main
	memory 7 3514 true late_new;late_second;late_all;load;main
END

note "libraries that are at the same addresses in turn"
for n in 1 2; do
	gcc -g -O1 -fPIC -shared -o "$TMP/turn$n.so" -x c - <<-END
		#include <stdlib.h>
		static void *volatile lost;
		__attribute__((noinline)) static void inner_$n(void) { lost = malloc(610 + $n); lost = NULL; }
		void leak(void) { inner_$n(); lost = NULL; }
	END
done
gcc -g -O1 -o "$TMP/turns" -x c - <<-END
	#include <dlfcn.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 6; i++) {
			void *library = dlopen(argv[1 + i % 2], RTLD_NOW), *leak;
			if (argc < 3 || !library || !(leak = dlsym(library, "leak")))
				return 1;
			/* (the first walks without tables are copied, and have ids of their own) */
			usleep(50000);
			((void (*)(void))leak)();
			printf("%p\n", leak);
			dlclose(library);
		}
		return 0;
	}
END
# record_turns [--memory-log]: records the load, until its libraries have the same addresses.
record_turns() {
	local n

	for n in {1..5}; do
		watched_leaks "$TMP/turns.fxt" "$@" -- "$TMP/turns" "$TMP/turn1.so" "$TMP/turn2.so"
		[ "$(grep -c ^0x "$TMP/stdout")" = 6 ] || fail "the load has failed"
		[ "$(grep ^0x "$TMP/stdout" | sort -u | wc -l)" != 1 ] || return 0
	done
	fail "the libraries have had different addresses in $n recordings"
}

for how in "" --memory-log; do
	record_turns ${how:+"$how"}
	expect_exit 0 "$KYMO" leaks --json "$TMP/turns.fxt"
	# (a stack whose table was late ends early, in a group of its own)
	gojq -r '[.processes[].leaks[] | select(.bytes / .blocks | . == 611 or . == 612) |
		{ size: (.bytes / .blocks), blocks, of: .frames[0].function }] | group_by([.size, .of])[] |
		"\(.[0].size) \(map(.blocks) | add) \(.[0].of)"' "$TMP/stdout" | sort >"$TMP/groups"
	printf '%s\n' "611 3 inner_1" "612 3 inner_2" | diff - "$TMP/groups" >&2 ||
		fail "the blocks of the two libraries (>)${how:+ with $how} are not as they should be (<)"
	expect_exit 0 "$KYMO" check "$TMP/turns.fxt"
done

note "mappings that seem to change all the time"
# hold_mappings PID: makes the programs of all recordings take the mappings of PID as being changed
hold_mappings() {
	local map key

	key=$(printf '%02x %02x %02x %02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24)))
	for map in $(bpftool -j map show | gojq '.[] | select(.name == "unwind_processe") | .id'); do
		# shellcheck disable=SC2086 # the bytes of the key
		bpftool -j map lookup id "$map" key hex $key >"$TMP/mappings" 2>/dev/null || continue
		# (the low byte of struct unwind_process.sequence)
		# shellcheck disable=SC2046,SC2086
		bpftool map update id "$map" key hex $key value hex \
			$(gojq -r '.value | .[8] = "0x01" | map(ltrimstr("0x")) | join(" ")' "$TMP/mappings")
	done
}
gcc -g -O1 -o "$TMP/changing" -x c - <<-END
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	static void *volatile lost;
	__attribute__((noinline)) static void leak(void) { lost = malloc(777); lost = NULL; }
	int main(void)
	{
		char byte;
		if (read(0, &byte, 1) != 1)
			return 1;
		for (int i = 0; i < 1000; i++) {
			leak();
			usleep(2000);
		}
		write(1, "end\n", 4);
		return read(0, &byte, 1) != 1;
	}
END
is_watched() {
	{ "$KYMO" dump --json "$TMP/changing.fxt" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		holds - "any(.[]; .record == \"event\" and .process_id == $1)" -s
}
mkfifo "$TMP/changing.fifo"
exec {FIFO}<>"$TMP/changing.fifo"
"$TMP/changing" <"$TMP/changing.fifo" >"$TMP/changing.log" {FIFO}>&- &
load=$!
"$KYMO" record --direct -e memory -o "$TMP/changing.fxt" -p $load 2>"$TMP/record.log" &
recorder=$!
expect_soon 20 is_watched $load
hold_mappings $load
echo >&"$FIFO"
expect_soon 60 grep -qx end "$TMP/changing.log"
kill -INT $recorder
wait $recorder || {
	cat "$TMP/record.log" >&2
	fail "the recording failed"
}
kill $load
dump_records "$TMP/changing.fxt"
stacks_copied=$(events session_stacks | gojq '.args.stacks_copied // 0')
# (MEMORY_CHANGES_MAX: each copy has an entry of its own in the table of stacks)
assert_ge "$stacks_copied" 1 "copied stacks"
assert_ge 64 "$stacks_copied" "copied stacks, of 1000"
assert_ge "$(events session_stacks | gojq '.args.stacks_busy // 0')" 900 "walks that ended because of a change"
expect_exit "0|3" "$KYMO" leaks --json "$TMP/changing.fxt"
assert_eq "$(gojq '[.processes[].leaks[] | select(.bytes / .blocks == 777) | .blocks] | add' "$TMP/stdout")" 1000 "blocks"
