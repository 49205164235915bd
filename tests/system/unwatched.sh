#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program whose allocator has no probes is not reported as free of leaks.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command strip gojq

program=$LEAK_PROGRAMS/leak-plant-static
[ -x "$program" ] || skip "no static program was built"

# leaks STATUS ARGUMENT ...: writes the report to $TMP/report.json
leaks() {
	expect_exit "$1" "$KYMO" leaks --direct -e memory --force -o "$TMP/t.fxt" "${@:2}" >/dev/null
	cp "$TMP/stderr" "$TMP/complaints"
	"$KYMO" leaks --json --allow-unwatched "$TMP/t.fxt" >"$TMP/report.json" 2>/dev/null ||
		fail "no report"
}

# of_last FILTER: prints the result of FILTER for the last program
of_last() {
	gojq -r ".processes[-1] | $1" "$TMP/report.json"
}

# unwatched_leaks PROGRAM: leaks of a program whose allocator is unknown. On a busy machine it can end
# before it was looked at, and then the report says that: try again.
unwatched_leaks() {
	local n

	for ((n = 0; n < 5; n++)); do
		leaks 4 --fail-over 1G -- "$1" list
		[[ $(of_last .unwatched) == 'it ended before '* ]] || return 0
	done
}

note "a stripped static program"
strip -s -o "$TMP/stripped" "$program"
unwatched_leaks "$TMP/stripped"
assert_eq "$(of_last '"\(.watched) \(.complete) \(.unwatched)"')" \
	"false false stripped: its allocator is unknown: static and stripped; use a build with symbols" \
	"its data"
grep -q '^kymo leaks: 1 program was not watched' "$TMP/complaints" || fail "nothing was said"
leaks 0 --fail-over 1G --allow-unwatched -- "$TMP/stripped" list
leaks 0 -- "$TMP/stripped" list
leaks 0 --fail-over 1G -- "$program" list
assert_eq "$(of_last '"\(.watched) \(.complete)"')" "true true" "the same with symbols"

if [ -x "$LEAK_PROGRAMS/leak-plant-musl-static" ]; then
	note "with musl"
	strip -s -o "$TMP/stripped-musl" "$LEAK_PROGRAMS/leak-plant-musl-static"
	unwatched_leaks "$TMP/stripped-musl"
	assert_eq "$(of_last '"\(.watched) \(.unwatched)"')" \
		"false stripped-musl: its allocator is unknown: static and stripped; use a build with symbols" "its data"
	leaks 0 --fail-over 1G -- "$LEAK_PROGRAMS/leak-plant-musl-static" list
	assert_eq "$(of_last '"\(.watched) \(.complete)"')" "true true" "the same with symbols"
fi

note "the same behind an exec"
# (it may have ended before the first check)
leaks 4 --fail-over 1G -- sh -c "exec '$TMP/stripped' list"
assert_eq "$(of_last .watched)" false "whether it was watched"

note "one that calls exec at once, or a while later"
if type -P cc >/dev/null; then
	cc -O1 -static -s -o "$TMP/becomes" -x c - <<-END
		#include <stdlib.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			usleep((useconds_t)atoi(argv[1]) * 1000);
			return argc > 2 ? execv(argv[2], argv + 2) : 1;
		}
	END
	# (at once, its exec comes before a check of its files, and frees its blocks; on a busy machine, it comes later)
	for ms in 0 0 0 100 300 1000 3000; do
		"$KYMO" leaks --direct -e memory --force -o "$TMP/t.fxt" --fail-over 1G -- \
			env "$TMP/becomes" $ms "$LEAK_PROGRAMS/leak-plant-frames" list >/dev/null 2>"$TMP/complaints" || true
		"$KYMO" leaks --json --allow-unwatched "$TMP/t.fxt" 2>/dev/null |
			gojq -r '.processes[] | select(.program | endswith("/becomes")) | .unwatched // ""' >"$TMP/reasons"
		assert_eq "$(grep -cv 'static and stripped' "$TMP/reasons")" 0 "other reasons: $(cat "$TMP/reasons")"
		[ ! -s "$TMP/reasons" ] || break
	done
	[ -s "$TMP/reasons" ] || fail "the program was never reported"
fi

note "a process that uses the memory of its parent"
if type -P cc >/dev/null; then
	cc -O1 -o "$TMP/shares" -x c - <<-END
		#define _GNU_SOURCE
		#include <sched.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		static void *volatile lost;
		static int child(void *unused) { (void)unused; lost = malloc(444); lost = NULL; return 0; }
		int main(int argc, char **argv)
		{
			char *stack = malloc(1 << 16);
			int flags = CLONE_VM | SIGCHLD | (argc > 1 ? CLONE_VFORK : 0);
			(void)argv;
			return waitpid(clone(child, stack + (1 << 16), flags, NULL), NULL, 0) < 0;
		}
	END
	leaks 4 --fail-over 1G -- "$TMP/shares"
	assert_eq "$(of_last '"\(.watched) \(.complete)"')" "true false" "whether its data are complete"
	assert_says "$TMP/complaints" 'another process shared its memory' "the reason"
	# (such a child is about to call exec: a limit that the manual states)
	leaks 0 --fail-over 1G -- "$TMP/shares" vfork
	assert_eq "$(of_last '"\(.watched) \(.complete)"')" "true true" "a program that uses vfork"
fi

note "programs that end at once"
# (some of them end before the worker reads of their fork; all have ended when the command ends)
for reach in no freeze; do
	leaks 0 --reach "$reach" -- bash -c 'for _ in {1..10}; do a=$(readlink -f /) b=$(tty); done; exit 0'
	gojq -r '.processes[] | select(.reason == "stop") | .program' "$TMP/report.json" >"$TMP/running"
	assert_empty "$TMP/running" "ended programs that are said to be running, with --reach $reach"
	# (bash, and the 20 that it starts)
	assert_ge "$(gojq '.processes | length' "$TMP/report.json")" 21 "reported processes, with --reach $reach"
	gojq -r '.processes[] | select(.unwatched) | .unwatched' "$TMP/report.json" | sort -u >"$TMP/reasons"
	# (libc.so.6 has a known allocator)
	assert_eq "$(grep -v '^it ended before ' "$TMP/reasons")" "" "reasons, with --reach $reach"
	# (each of them began during the recording)
	gojq -r '.processes[] | select(.complete or .unwatched or .gap or .forked_ns or .reason == "exec" | not) |
		.program' "$TMP/report.json" >"$TMP/unexplained"
	assert_empty "$TMP/unexplained" "programs that are not complete, without a reason, with --reach $reach"
	gojq -r '.processes | group_by(.pid)[] | select(length > 1 and .[0].unwatched) | .[] |
		"\(.pid) \(.program) \(.unwatched)"' "$TMP/report.json" >"$TMP/twice"
	assert_empty "$TMP/twice" "ended programs that were watched later, with --reach $reach"
done

note "a program that never allocates"
cat >"$TMP/never.S" <<-END
	.globl _start
	.type _start, @function
	_start:
		mov \$60, %eax
		xor %edi, %edi
		syscall
END
if [ "$(uname -m)" = x86_64 ] && type -P cc >/dev/null; then
	cc -nostdlib -static -o "$TMP/never" "$TMP/never.S"
	leaks 4 --fail-over 1G -- "$TMP/never"
	assert_eq "$(of_last .unwatched)" "none of its files has a known allocator" "the reason"
fi

note "another allocator behind an exec"
library=$(ldconfig -p | awk '/libjemalloc\.so/ && !n++ { print $NF }')
dynamic=$LEAK_PROGRAMS/leak-plant-frames
if [ -n "$library" ]; then
	for _ in 1 2 3; do
		status=0
		"$KYMO" leaks --direct -e memory --force -o "$TMP/t.fxt" --fail-over 1G -- \
			env "LD_PRELOAD=$library" "$dynamic" list >/dev/null 2>&1 || status=$?
		"$KYMO" leaks --json --allow-unwatched "$TMP/t.fxt" >"$TMP/report.json" 2>/dev/null
		case $(of_last .watched) in
		true) [ "$(of_last '.leaks | length')" -gt 0 ] || fail "watched, but nothing was seen" ;;
		*) assert_eq "$status" 4 "exit status, if it was not watched" ;;
		esac
	done
fi

note "a child of vfork() that allocates: the report says that this is unknown"
cc -O1 -fno-builtin -o "$TMP/vforks" -x c - <<-END
	#include <spawn.h>
	#include <stdlib.h>
	#include <sys/wait.h>
	#include <unistd.h>
	extern char **environ;
	int main(int argc, char **argv)
	{
		char *args[] = { "true", NULL };
		pid_t pid;

		if (argc > 1)
			return posix_spawnp(&pid, "true", NULL, NULL, args, environ) ||
			       waitpid(pid, NULL, 0) != pid;
		pid = vfork();
		if (pid == 0) {
			malloc(12345);
			execvp("true", args);
			_exit(1);
		}
		return waitpid(pid, NULL, 0) != pid;
	}
END
leaks 0 -- "$TMP/vforks"
assert_eq "$(json "$TMP/report.json" '[.processes[] | select(.vforked) | .complete] | join(",")')" \
	true "the parent is complete, but for its child"
leaks 0 -- "$TMP/vforks" spawn
assert_eq "$(json "$TMP/report.json" '[.processes[] | select(.vforked)] | length')" 0 \
	"posix_spawn() allocates nothing in its child"

note "functions of mimalloc whose first argument is a heap"
if type -P cc >/dev/null && cc -O1 -fno-builtin -o "$TMP/heaps" -x c - -lmimalloc 2>/dev/null <<-END; then
	#include <stddef.h>
	void *mi_heap_get_default(void);
	void *mi_heap_calloc(void *, size_t, size_t);
	void *mi_heap_zalloc_aligned(void *, size_t, size_t);
	void *mi_heap_realloc(void *, void *, size_t);
	void *mi_heap_reallocn(void *, void *, size_t, size_t);
	void mi_free(void *);
	int main(void)
	{
		void *heap = mi_heap_get_default(), *p = mi_heap_calloc(heap, 3, 100);
		mi_heap_calloc(heap, 3, 37);
		mi_heap_zalloc_aligned(heap, 222, 64);
		p = mi_heap_realloc(heap, p, 5000);
		mi_free(mi_heap_reallocn(heap, p, 7, 9000));
		mi_heap_reallocn(heap, mi_heap_realloc(heap, NULL, 55), 3, 111);
		return 0;
	}
END
	leaks 4 --fail-over 0 -- "$TMP/heaps"
	assert_eq "$(of_last '"\(.complete) \(.unmatched_frees) \([.leaks[] | "\(.blocks) of \(.bytes)"] | sort | join(", "))"')" \
		"true 0 1 of 111, 1 of 222, 1 of 333" "its data"

	note "a heap of mimalloc that is destroyed: its blocks count as not freed, with the reason"
	cc -O1 -fno-builtin -o "$TMP/destroy" -x c - -lmimalloc <<-END
		#include <stddef.h>
		void *mi_heap_new(void);
		void *mi_heap_calloc(void *, size_t, size_t);
		void mi_heap_destroy(void *);
		int main(void)
		{
			void *heap = mi_heap_new();
			mi_heap_calloc(heap, 3, 37);
			mi_heap_destroy(heap);
			return 0;
		}
	END
	leaks 4 --fail-over 0 -- "$TMP/destroy"
	assert_eq "$(of_last '"\(.complete) \(.gap)"')" \
		"false it called mi_heap_destroy(), and blocks that this freed are reported as not freed" \
		"its data"
else
	note "not tested: no libmimalloc"
fi
