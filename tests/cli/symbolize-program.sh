#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names of a program that is built here: stacks by hand, at addresses that nm and addr2line know.
# `kymo flame` names them here, and anywhere once `kymo symbolize` has been at them; nothing is ever
# named wrong.

. "$(dirname "$0")/../lib.sh"
need_command cc nm readelf addr2line objcopy strip gojq

# Functions that do not return: the return address of their call is the begin of another function.
cat >"$TMP/first.c" <<-END
	#include <stdlib.h>
	static volatile int sink;
	static inline __attribute__((always_inline)) void inner(int x)
	{
		while (sink < x)
			sink += x * 3;
	}
	__attribute__((noinline)) void work(int x)
	{
		sink = 0;
		inner(x);
		sink = 1;
	}
	__attribute__((noinline, noreturn)) void leaves(int x)
	{
		work(x);
		exit(sink);
	}
	__attribute__((noinline)) void behind(void) { sink++; }
	int main(int argc, char **argv)
	{
		(void)argv;
		leaves(argc);
	}
END
sed 's/work/toil/g; s/inner/core/g; s/leaves/parts/g' "$TMP/first.c" >"$TMP/second.c"
mkdir "$TMP/bin"
for i in first second; do
	cc -O1 -g -no-pie -fno-pie -fno-reorder-functions -Wl,--build-id=sha1 "$TMP/$i.c" -o "$TMP/bin/$i" || skip "cc makes no such programs"
done

build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# end_of FILE FUNCTION: prints the address after it
end_of() {
	nm -S "$1" | while read -r start size _ name; do
		[ "$name" != "$2" ] || printf '%x\n' $((0x$start + 0x$size))
	done
}

# inside FILE FUNCTION INLINED: an address in FUNCTION where code of INLINED is
inside() {
	local start size name i

	nm -S "$1" | while read -r start size _ name; do
		[ "$name" = "$2" ] || continue
		for ((i = 0x$start; i < 0x$start + 0x$size; i++)); do
			if [ "$(addr2line -ife "$1" "$(printf %x "$i")" | sed -n 1p)" = "$3" ]; then
				printf '%x\n' "$i"
				return
			fi
		done
	done
}

# map PID FILE BUILD_ID PATH: a line for make-profile, of the code of FILE
map() {
	readelf -lW "$2" | while read -r type offset vaddr _ _ size flags; do
		case "$type $flags" in
		LOAD\ *R*E*)
			printf 'map %d %x %x %x %s %s\n' "$1" $((vaddr & ~4095)) \
				$((((vaddr & 4095) + size + 4095) & ~4095)) $((offset & ~4095)) "$3" "$4"
			;;
		esac
	done
}

# make NAME <LINES: an archive $TMP/NAME.fxt
make() {
	"$MAKE_PROFILE" "$TMP/$1.fxt"
}

# flame NAME OPTION ...: folded stacks of $TMP/NAME.fxt
flame() {
	local name=$1

	shift
	"$KYMO" flame "$TMP/$name.fxt" -o - --format folded "$@" 2>"$TMP/flame.stderr"
}

# names_no REGEX WHAT COMMAND ...: COMMAND (flame, served) prints stacks, and no line matches
names_no() {
	local names=$1 what=$2

	shift 2
	"$@" >"$TMP/no-names" || fail "$what: $(cat "$TMP/flame.stderr")"
	[ -s "$TMP/no-names" ] || fail "$what: there are no stacks"
	! grep -E "$names" "$TMP/no-names" >&2 || fail "$what: there are names"
}

# symbolize NAME OPTION ...: $TMP/NAME.fxt -> $TMP/NAME-named.fxt; its report is $TMP/report
symbolize() {
	local name=$1

	shift
	expect_exit 0 "$KYMO" symbolize --json --force "$@" "$TMP/$name.fxt" "$TMP/$name-named.fxt"
	assert_empty "$TMP/stderr"
	cp "$TMP/stdout" "$TMP/report"
}

report() {
	gojq -c "[.addresses, .named, .known_before, .unnamed, .frames]" "$TMP/report"
}

first=$TMP/bin/first second=$TMP/bin/second
id=$(build_id "$first")
[ "$id" ] || skip "cc gives programs no build id"
# The pid of no process.
pid=4194000
stack="$(inside "$first" work inner) $(end_of "$first" leaves) $(end_of "$first" main)"
assert_eq "$(wc -w <<<"$stack")" 3 "addresses in $first"
chain='prog;main;leaves;work;inner 1'
lines() {
	printf 'start %s\ntask %d prog\n' "$1" $pid
	map $pid "$first" "$2" "${3:-$first}"
	printf 'sample %d %s\n' $pid "$stack"
}

note "functions, one of them inlined, and calls that do not return"
lines . "$id" | make a
assert_eq "$(flame a)" "$chain" "flame"
assert_eq "$(flame a --no-symbols | tr ';' '\n' | grep -c 'first+0x')" 3 "flame --no-symbols"
expect_exit 0 "$KYMO" summary "$TMP/a.fxt"
assert_contains "$TMP/stdout" '^100\.00% 100\.00%  inner$' "summary"
assert_contains "$TMP/stdout" '^  0\.00% 100\.00%  leaves$' "summary"
expect_exit 0 "$KYMO" summary --no-symbols "$TMP/a.fxt"
assert_contains "$TMP/stdout" '^100\.00% 100\.00%  first[+]0x' "summary --no-symbols"

note "in the archive"
symbolize a
assert_eq "$(report)" '[3,3,0,0,4]' "the report of the first run"
assert_eq "$(gojq -c '.problems, [.modules[].unnamed]' "$TMP/report")" $'[]\n[0]' "missing parts"
assert_eq "$(flame a-named --no-symbols)" "$chain" "flame of what was symbolized"
"$KYMO" dump "$TMP/a-named.fxt" | grep profile:frame >"$TMP/frames"
line=$(addr2line -ie "$first" "${stack%% *}" | sed -n 1p | sed 's/.*:\([0-9]*\).*/\1/')
assert_says "$TMP/frames" \
	"depth=0 function=\"inner\" source=\"$TMP/first.c\" line=$line module=\"$first\"" "a frame"
expect_exit 0 "$KYMO" check --strict "$TMP/a-named.fxt"
cp "$TMP/a-named.fxt" "$TMP/b.fxt"
symbolize b
assert_eq "$(report)" '[3,0,3,0,0]' "the report of the second run"
# (the mark of an edit depends on the mark of the source)
for i in a b; do
	"$KYMO" dump "$TMP/$i-named.fxt" | sed -E 's/^ *//; s/( kymo:part .* id=)[0-9]+/\1/' |
		grep -v '^string' >"$TMP/$i.records"
done
assert_eq "$(grep -c ' kymo:part .* class="edited"' "$TMP/b.records")" 1 "marks of two edits"
cmp "$TMP/a.records" "$TMP/b.records" || fail "the second symbolization changes the archive"

note "through a pipe, and packed"
"$KYMO" symbolize - - <"$TMP/a.fxt" 2>/dev/null | cmp - "$TMP/a-named.fxt"
"$KYMO" symbolize "$TMP/a.fxt" "$TMP/a.fxt.zst" 2>/dev/null
"$KYMO" export "$TMP/a.fxt.zst" -o - --format fxt 2>/dev/null | cmp - "$TMP/a-named.fxt"

if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	note "in Perfetto"
	perfetto "$TMP/a-named.fxt" "select name from stack_profile_frame order by id" \
		"select count(*) n from perf_sample" >"$TMP/answers"
	assert_eq "$(head -1 "$TMP/answers" | gojq -c 'map(.name) | sort')" \
		'["inner","leaves","main","work"]' "functions in Perfetto"
	assert_eq "$(tail -1 "$TMP/answers")" '[{"n":1}]' "samples in Perfetto"
fi

if command -v curl >/dev/null; then
	note "kymo open serves the names, and does not change the archive"
	# served_by_open FILE OPTION ...: writes the file that a page gets to $TMP/served.fxt
	served_by_open() {
		local url='' status=0 open

		: >"$TMP/open.err"
		"$KYMO" open --port 0 --no-browser --json "$@" >"$TMP/open.json" 2>"$TMP/open.err" &
		open=$!
		expect_soon 10 grep -q '[?]url=' "$TMP/open.err"
		url=$(sed -n 's/.*[?]url=//p' "$TMP/open.err")
		curl -s -o "$TMP/served.fxt" "$url" || :
		wait $open || status=$?
		assert_eq "$status" 0 "exit status of kymo open"
		SERVED_NAME=${url##*/}
	}
	gzip -k "$TMP/a.fxt"
	expect_exit 0 "$KYMO" export "$TMP/a-named.fxt" -o "$TMP/a-named.pftrace"
	for file in a.fxt a.fxt.gz; do
		before=$(sha256sum "$TMP/$file")
		served_by_open "$TMP/$file"
		assert_eq "$SERVED_NAME" a.pftrace "the name of the served file"
		cmp "$TMP/served.fxt" "$TMP/a-named.pftrace"
		served_by_open --archive "$TMP/$file"
		assert_eq "$SERVED_NAME" a.fxt "the name of the served archive"
		cmp "$TMP/served.fxt" "$TMP/a-named.fxt"
		assert_eq "$(sha256sum "$TMP/$file")" "$before" "the archive"
	done
	assert_eq "$(grep -c 'have no names' "$TMP/open.err" || :)" 0 "complaints"
	# (the mapping of this address is unknown, and it has no name)
	for option in --no-symbols "--sysroot=$TMP/bin"; do
		served_by_open "$option" --archive "$TMP/a.fxt"
		cmp "$TMP/served.fxt" "$TMP/a.fxt"
		served_by_open "$option" "$TMP/a.fxt"
		"$KYMO" export --format perfetto "$TMP/a.fxt" -o - 2>/dev/null | cmp - "$TMP/served.fxt"
	done
	assert_says "$TMP/open.err" ': 3 of 3 addresses in call stacks have no names' "the message"
	note "where there is no room for a copy and a trace, the archive itself is served"
	TMPDIR=/dev/null served_by_open "$TMP/a.fxt"
	cmp "$TMP/served.fxt" "$TMP/a.fxt"
	assert_says "$TMP/open.err" 'is shown without added names' "the message"
	assert_says "$TMP/open.err" 'the UI shows the archive itself' "the message"
fi

note "another build has other names"
lines . 0123456789abcdef0123456789abcdef01234567 | make wrong
assert_eq "$(flame wrong | tr ';' '\n' | grep -c 'first+0x')" 3 "flame by a wrong build id"
symbolize wrong
assert_eq "$(report)" '[3,0,0,3,0]' "by a wrong build id"
assert_eq "$(gojq -c '.modules' "$TMP/report")" "[{\"addresses\":3,\"module\":\"$first\",\"unnamed\":3}]" "modules"
assert_eq "$(gojq -r '.problems[].file' "$TMP/report")" "$first" "the message"
expect_exit 0 "$KYMO" symbolize --force "$TMP/wrong.fxt" "$TMP/wrong-named.fxt"
assert_line "$TMP/stderr" "  3 of 3 without a name: $first" "the report"
assert_says "$TMP/stderr" "kymo symbolize: $first: " "the report"

note "recorded elsewhere: by build id"
lines elsewhere "$id" | make far
assert_eq "$(flame far)" "$chain" "the same build"
note "recorded elsewhere: not by the path alone, unless that is said"
lines elsewhere - | make vague
assert_eq "$(flame vague | tr ';' '\n' | grep -c 'first+0x')" 3 "flame by the path alone"
symbolize vague
assert_eq "$(report)" '[3,0,0,3,0]' "by the path alone"
assert_eq "$(flame vague --sysroot /)" "$chain" "with --sysroot"
lines . - | make near
assert_eq "$(flame near)" "$chain" "recorded here since it was booted"

note "without a build id: the file as it was when it was mapped, also in an earlier boot"
cp "$first" "$TMP/bin/rewritten"
read -r major minor inode < <(stat -c '%Hd %Ld %i' "$TMP/bin/rewritten")
for start in . .-; do
	lines "$start" "-$((major << 20 | minor)):$inode" "$TMP/bin/rewritten" | make "kept$start"
	assert_eq "$(flame "kept$start")" "$chain" "the file itself"
done
cat "$second" >"$TMP/bin/rewritten"
assert_eq "$(stat -c %i "$TMP/bin/rewritten")" "$inode" "the inode of the file"
for start in . .-; do
	names_no 'inner|core' "a file that was written since" flame "kept$start"
done
touch -d 2020-01-01 "$TMP/bin/rewritten"
for start in . .-; do
	names_no 'inner|core' "a file whose time was set back" flame "kept$start"
done

lines elsewhere "$id" /opt/first | make moved
names_no inner "a file that is not there" flame moved
mkdir -p "$TMP/root/opt"
cp "$first" "$TMP/root/opt/first"
assert_eq "$(flame moved --sysroot "$TMP/root")" "$chain" "below --sysroot"

note "by separate debug files"
mkdir -p "$TMP/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$first" "$TMP/debug/.build-id/${id:0:2}/${id:2}.debug"
assert_eq "$(flame moved --debug-dir "$TMP/debug")" "$chain" "--debug-dir"
symbolize moved --debug-dir "$TMP/debug"
assert_eq "$(report)" '[3,3,0,0,4]' "--debug-dir"

note "by a server of debug files, for whoever asks for it"
mkdir -p "$TMP/tree/buildid/$id"
objcopy --only-keep-debug "$first" "$TMP/tree/buildid/$id/debuginfo"
"$SERVE_TREE" "$TMP/tree" >"$TMP/served" &
expect_soon 20 test -s "$TMP/served"
# served [NAME]: runs flame on an archive whose program is not here, with a separate cache
served() {
	rm -rf "$TMP/cache"
	# (libdebuginfod prints messages only on request)
	DEBUGINFOD_URLS=http://127.0.0.1:$(head -1 "$TMP/served") DEBUGINFOD_CACHE_PATH=$TMP/cache \
		DEBUGINFOD_PROGRESS='' DEBUGINFOD_VERBOSE='' flame "$@"
}
names_no inner "without --debuginfod" served moved
assert_eq "$(wc -l <"$TMP/served")" 1 "the requests without --debuginfod"
served moved --debuginfod >"$TMP/got"
if [ "$(wc -l <"$TMP/served")" -gt 1 ]; then
	assert_eq "$(cat "$TMP/got")" "$chain" "with --debuginfod"
	assert_line "$TMP/served" "GET /buildid/$id/debuginfo 200" "the requests"
	# The server's answer is checked like any other file.
	objcopy --only-keep-debug "$second" "$TMP/tree/buildid/$id/debuginfo"
	names_no 'inner|core' "another build from the server" served moved --debuginfod
	rm -r "$TMP/tree/buildid"
	names_no inner "a server that has nothing" served moved --debuginfod
else
	note "not tested: built without debuginfod, or there is no libdebuginfod.so.1"
fi
DEBUGINFOD_URLS='' names_no inner "without a server" flame moved --debuginfod

note "one process, two programs at one address"
{
	lines . "$id"
	echo "at 10"
	echo "exec $pid $second"
	map $pid "$second" "$(build_id "$second")" "$second"
	printf 'sample %d %s\n' $pid "$stack"
} | make exec
printf 'prog;main;%s 1\n' 'leaves;work;inner' 'parts;toil;core' >"$TMP/both"
flame exec | diff "$TMP/both" - || fail "flame"
symbolize exec
assert_eq "$(report)" '[6,6,0,0,8]' "two programs"
flame exec-named --no-symbols | diff "$TMP/both" - || fail "flame of what was symbolized"

note "names stay when the program has gone"
mv "$first" "$TMP/gone"
names_no inner "flame without the program" flame a
assert_eq "$(flame a-named)" "$chain" "flame of what was symbolized"
mv "$TMP/gone" "$first"

# Files that only the recorded process sees: it must be that process.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	note "in the mount namespace of the process, while it lives"
	mkdir "$TMP/inner"
	unshare -m bash -c 'mount -t tmpfs none "$1" && cp "$2" "$1/first" && touch "$1/../ready" && exec sleep 60' \
		- "$TMP/inner" "$first" &
	sleeper=$!
	wait_for 20 test -e "$TMP/ready" || fail "there is no mount namespace"
	ticks=$(sed 's/.*) //' "/proc/$sleeper/stat" | cut -d' ' -f20)
	began=$((ticks * (1000000000 / $(getconf CLK_TCK))))
	# living HOST START_NS
	living() {
		printf 'start %s\ntask %d prog %d\n' "$1" "$sleeper" "$2"
		map "$sleeper" "$first" "$id" "$TMP/inner/first"
		printf 'sample %d %s\n' "$sleeper" "$stack"
	}
	living . "$began" | make lives
	assert_eq "$(flame lives)" "$chain" "a process that lives"
	living . "$((began + 10000000000))" | make other
	names_no inner "another process of that id" flame other
	living elsewhere "$began" | make remote
	names_no inner "a process of another machine" flame remote
	kill "$sleeper"
	wait "$sleeper" || :
	names_no inner "a process that has ended" flame lives
fi

# The kernel, where its addresses may be seen.
text=$(awk '$3 == "_stext" && $1 !~ /^0*$/ { print $1 }' /proc/kallsyms)
function=$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms)
if [ "$text" ] && [ "$function" ]; then
	note "the kernel"
	kernel() {
		printf 'start %s\nmap 2 %s 10000000 0 - [kernel.kallsyms]\nsample 7 %x\n' "$1" "$text" \
			$((0x$function + 1))
	}
	kernel . | make kernel
	assert_contains <(flame kernel) ';vfs_read 1$' "a function of the kernel"
	symbolize kernel
	assert_contains <("$KYMO" dump "$TMP/kernel-named.fxt") 'frame .* process=2 .*function="vfs_read"' "in the archive"
	kernel elsewhere | make kernel
	names_no vfs_read "the kernel of another machine" flame kernel
fi
