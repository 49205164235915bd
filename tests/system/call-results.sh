#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Results of calls: texts, slices, structures and numbers of two registers; and only those of the
# calls that a condition or a limit selects, also if a call returns in another thread.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
remember_bpf

gcc -D_GNU_SOURCE -O2 -g -pthread -o "$TMP/load" "$ROOT/tests/support/loads/results-load.c"
strip -g -o "$TMP/bare" "$TMP/load"

# calls WORD ...: runs `kymo calls WORD ...`. Writes the calls to $TMP/calls as JSON, in the order
# of their begins.
calls() {
	"$KYMO" calls --direct --json "$@" >"$TMP/said" 2>"$TMP/stderr" || fail "exit status $?: $(cat "$TMP/stderr")"
	gojq -sc 'sort_by(.timestamp_ns)[]' "$TMP/said" >"$TMP/calls"
}

# results FUNCTION: prints the results of its calls, one on a line. Addresses are replaced by a word.
results() {
	gojq -r "select(.function == \"$1\") | .return" "$TMP/calls" | sed -E 's/0x[0-9a-f]{9,}/ADDRESS/; s/^[0-9]{10,}$/ADDRESS/'
}

# check_results FUNCTION: compares the results with the standard input
check_results() {
	diff <(results "$1") - >&2 || fail "the results of $1 (<) differ from the expected ones (>)"
}

many=$(printf 'm%.0s' {1..256})

check_all() {
	check_results two <<<"{x=-5, y=7, n=1099511627776}"
	check_results small <<<"{a=5, b=17, c=-3, f=2.5}"
	check_results mixed <<<"{d=<unavailable: in a vector register>, n=3}"
	check_results wide <<<"-3541774862152233910272"
	check_results text <<-'END'
		"a \"text\"\n"
		0
	END
	# A text ends at its NUL, after 256 bytes (255 of them are shown), or where the readable
	# memory ends.
	check_results sized <<-END
		"hello, world"
		"${many%m}"...
		"cut it"...
		ADDRESS
	END
}

note "results of specified types"
calls --call "$TMP/bare:text(int n) -> str" --call "$TMP/bare:sized(ptr s, size_t size) -> str" \
	--call "$TMP/bare:two() -> struct{int x, int16 y, long n}" \
	--call "$TMP/bare:small() -> struct{uint8 a@0>>0:3, uint8 b@0>>3:5, int16 c@2, float f}" \
	--call "$TMP/bare:mixed() -> struct{double d@?vector, long n@0}" \
	--call "$TMP/bare:large() -> ptr{long a, int b, int state, int last@336}" \
	--call "$TMP/bare:slice(ptr s, size_t n, size_t size) -> slice" \
	--call "$TMP/bare:view() -> view" --call "$TMP/bare:wide() -> int128" -- "$TMP/bare" all
check_all
check_results large <<<"{a=4, b=-1, state=1, ...}"
# (the length of a slice is its own, and not the argument `size`)
check_results slice <<-END
	"hello"
	""
	"$many"...
	"cut it"...
	{0x1, 7}
END
check_results view <<-END
	"hell"
	"$many"...
END

note "results from debug information"
calls --call "$TMP/load:*" -- "$TMP/load" all
check_all
gojq -r 'select(.function == "large") | .return' "$TMP/calls" >"$TMP/is"
assert_eq "$(sed -E 's/more=<[^>]*>, //' "$TMP/is")" "{a=4, b=-1, state=EOPEN, ...}" "a structure in memory"
# (a structure of an address and a number need not be a slice)
check_results slice <<-'END'
	{p=ADDRESS, n=5}
	{p=ADDRESS, n=0}
	{p=ADDRESS, n=400}
	{p=ADDRESS, n=60}
	{p=0x1, n=7}
END
check_results half <<<"<unavailable: in a vector register>"
check_results state <<-'END'
	EMPTY
	EOPEN
	EPERM_OF_OURS
END

if command -v gnatmake >/dev/null; then
	note "parameters of Ada that are copied at the return"
	cat >"$TMP/outs.adb" <<-'END'
		procedure Outs is
		   procedure Halve (N : Integer; Half : out Integer; Rest : out Integer) is
		   begin
		      Half := N / 2;
		      Rest := N mod 2;
		   end Halve;
		   pragma No_Inline (Halve);
		   procedure One (N : in out Integer) is
		   begin
		      N := N + 1;
		   end One;
		   pragma No_Inline (One);
		   A, B : Integer;
		begin
		   Halve (9, A, B);
		   One (A);
		   if A + B /= 6 then
		      raise Program_Error;
		   end if;
		end Outs;
	END
	(cd "$TMP" && gnatmake -q -g -O1 outs.adb) || fail "gnatmake"
	calls --call "$TMP/outs:outs__*" -- "$TMP/outs"
	assert_eq "$(gojq -r '(.function | split(".")[0]) + " \(.arguments.n) \(.return)"' "$TMP/calls" | paste -sd ' ')" \
		"outs__halve 9 {half=4, rest=1} outs__one 4 5" "parameters that the function sets"
fi

note "functions of libc"
calls --call libc.so.6:getenv --call libc.so.6:strdup -- env KYMO_TEST=value sh -c 'cd / && exec true'
assert_ge "$(gojq -r 'select(.function == "getenv" and (.return | type) == "string") | .return' "$TMP/calls" | wc -l)" 1 \
	"texts from the environment"

note "a condition and a limit select the texts of results, too"
calls --call "$TMP/bare:sized(ptr s, size_t size) -> str if \$size > 5" \
	--call "$TMP/bare:text(int n) -> str if \$n == 1" -- "$TMP/bare" all
assert_eq "$(results sized)" "" "no call of sized"
check_results text <<<'"a \"text\"\n"'
calls --call "$TMP/bare:sized(ptr s, size_t size) -> str limit 2/s" -- "$TMP/bare" all
assert_ge "$(gojq -r 'select(.return and (.return | type) == "string") | .return' "$TMP/calls" | wc -l)" 2 "texts within the limit"
assert_eq "$(gojq -s 'map(.left_out // 1) | add' "$TMP/said")" 4 \
	"calls within the limit, and left out"

note "a selected call that longjmp() leaves gets no result of a later call that is not selected"
calls --call "$TMP/bare:left(int n) -> str if \$n == 1" --call "$TMP/bare:left_number(int n) -> int if \$n == 1" \
	-- "$TMP/bare" left
assert_eq "$(gojq -r '"\(.function) \(.arguments.n) \(.return) \(.left_by)"' "$TMP/calls" | paste -sd ',')" \
	"left 1 null unwound,left_number 1 null unwound" "calls that were left"
# (the next selected call at this stack pointer has its own result)
calls --call "$TMP/bare:left(int n) -> str if \$n < 2" --call "$TMP/bare:left_number(int n) -> int if \$n < 2" \
	-- "$TMP/bare" left
gojq -r '"\(.function) \(.arguments.n) \(.return) \(.left_by)"' "$TMP/calls" >"$TMP/is"
diff "$TMP/is" - >&2 <<-'END' || fail "the calls of left (<) differ from the expected ones (>)"
	left 1 null unwound
	left 0 "a \"text\"\n" null
	left_number 1 null unwound
	left_number 0 100 null
END

note "functions that return an errno, and system calls that fail with one"
gcc -O2 -pthread -o "$TMP/busy" -x c - <<-'END'
	#include <errno.h>
	#include <pthread.h>
	#include <unistd.h>

	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	int main(void)
	{
		pthread_mutex_lock(&mutex);
		return pthread_mutex_trylock(&mutex) != EBUSY || close(-1) != -1;
	}
END
expect_exit 0 "$KYMO" calls --direct --call libc.so.6:pthread_mutex_trylock --call syscall:close -- "$TMP/busy"
assert_contains "$TMP/stdout" ' pthread_mutex_trylock\(.*\) += EBUSY \(Device or resource busy\)' "the errno itself"
assert_contains "$TMP/stdout" ' close\(-1\) += -1 EBADF \(Bad file descriptor\)' "-1 and an errno"

note "a condition on an argument that can be a number or an address"
gcc -O2 -o "$TMP/control" -x c - <<-'END'
	#include <fcntl.h>
	#include <sys/ioctl.h>

	int main(void)
	{
		int n;

		fcntl(0, F_SETFD, 0);
		fcntl(0, F_SETFD, 1);
		return ioctl(-1, FIONREAD, &n) != -1 || ioctl(-1, FIONREAD, 0) != -1;
	}
END
calls --call "syscall:fcntl if \$arg == 1" --call "syscall:ioctl if \$arg == 0" -- "$TMP/control"
assert_eq "$(gojq -c 'select(.arguments | .flags == "FD_CLOEXEC" or .request == "FIONREAD") | .function' "$TMP/calls" | paste -sd ' ')" \
	'"fcntl" "ioctl"' "calls with this number"

note "the memory of ioctl, by the size and the direction in the request"
gcc -D_GNU_SOURCE -O2 -o "$TMP/requests" -x c - <<-'END'
	#include <fcntl.h>
	#include <linux/random.h>
	#include <stdint.h>
	#include <stdlib.h>
	#include <sys/ioctl.h>
	#include <unistd.h>

	struct extents {
		uint64_t start, length;
		uint32_t flags, mapped, count, reserved;
	};

	int main(int argc, char **argv)
	{
		int zero = 0, random = open("/dev/random", O_RDONLY), terminal = posix_openpt(O_RDWR | O_NOCTTY);
		struct winsize size = { 24, 80, 1, 2 };
		struct extents extents = { .length = 7 };
		uint32_t words[100] = { 0x64636261, 0x68676665 };

		ioctl(terminal, TIOCSPTLCK, &zero);
		ioctl(terminal, TIOCSWINSZ, &size);
		size = (struct winsize){ 0 };
		ioctl(terminal, TIOCGWINSZ, &size);
		ioctl(-1, _IOW('x', 1, uint32_t), words);
		ioctl(-1, _IOWR('x', 2, uint64_t), words);
		ioctl(-1, _IOR('x', 3, uint32_t), words);
		ioctl(-1, _IOW('x', 4, uint32_t), (void *)3);
		ioctl(-1, _IO('x', 5), words);
		ioctl(-1, _IOW('x', 6, uint32_t[100]), words);
		ioctl(open(argv[0], O_RDONLY), _IOWR('f', 11, struct extents), &extents);
		return argc - 1;
	}
END
calls --call syscall:ioctl -- "$TMP/requests"
gojq -r '[.arguments.request, (.arguments.size // .arguments.arg | tostring)] | join(" ")' "$TMP/calls" |
	sed -E 's/ [0-9]{6,}$/ ADDRESS/; s/(\\x00){100,}/.../' >"$TMP/is"
diff <(sed '/f, 0xb/d; /0x66, 0xb/d' "$TMP/is") - >&2 <<-'END' || fail "the requests (<) differ from the expected ones (>)"
	TIOCSPTLCK "\x00\x00\x00\x00"
	TIOCSWINSZ {ws_row=24, ws_col=80, ws_xpixel=1, ws_ypixel=2}
	TIOCGWINSZ {ws_row=24, ws_col=80, ws_xpixel=1, ws_ypixel=2}
	_IOC(_IOC_WRITE, 0x78, 0x1, 0x4) "\x61\x62\x63\x64"
	_IOC(_IOC_READ|_IOC_WRITE, 0x78, 0x2, 0x8) "\x61\x62\x63\x64\x65\x66\x67\x68"
	_IOC(_IOC_READ, 0x78, 0x3, 0x4) ADDRESS
	_IOC(_IOC_WRITE, 0x78, 0x4, 0x4) 3
	_IOC(_IOC_NONE, 0x78, 0x5, 0) ADDRESS
	_IOC(_IOC_WRITE, 0x78, 0x6, 0x190) "\x61\x62\x63\x64\x65\x66\x67\x68..."...
END
# (some file systems refuse this request; those that do not write how many extents there are)
if grep -qF ' => ' "$TMP/is"; then
	assert_says "$TMP/is" '["\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00'
fi

note "calls that return in another thread"
calls --call "$TMP/bare:coroutine(int n) -> str" -- "$TMP/bare" moves
results coroutine | sort | uniq -c | sed 's/^ *//' >"$TMP/is"
diff "$TMP/is" - >&2 <<-'END' || fail "the results of coroutine (<) differ from the expected ones (>)"
	5 "a \"text\"\n"
	5 "hello, world"
END
calls --call "$TMP/bare:coroutine(int n) -> str if \$n >= 8" -- "$TMP/bare" moves
check_results coroutine <<-'END'
	"a \"text\"\n"
	"hello, world"
END

note "results that cannot be read are refused"
for result in double float; do
	expect_exit 2 "$KYMO" calls --direct --call "$TMP/bare:half(int n) -> $result" -- "$TMP/bare" all
	assert_says "$TMP/stderr" "this result is in a vector register, which the eBPF programs cannot read"
done
expect_exit 2 "$KYMO" calls --direct --call "syscall:getcwd(ptr to) -> str" -- "$TMP/bare" all
assert_says "$TMP/stderr" "the result of a system call is a number"

no_bpf_left "recordings of results"
