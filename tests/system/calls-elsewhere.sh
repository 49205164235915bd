#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls of functions whose name means another file than usual: a process with another mount
# namespace, a command in a pid namespace, a file that is replaced during the recording.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc unshare
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
remember_bpf

for turns in 1 2; do
	gcc -O2 -o "$TMP/load-$turns" -x c - <<-END
		#include <stdio.h>
		#include <unistd.h>
		__attribute__((noipa)) int turn_$turns(int n) { return n + $turns; }
		int main(int argc, char **argv)
		{
			for (int i = 0; argc < 2 || i < 3; i++) {
				turn_$turns(i);
				fopen("/dev/null", "r");
				usleep(20000);
			}
		}
	END
done

note "another file by the name of a library, in a mount namespace"
libc=$(ldd "$TMP/load-1" | awk '$1 == "libc.so.6" { print $3 }')
cp "$libc" "$TMP/copy"
unshare -m bash -c 'mount --bind "$1" "$2" && exec "$3"' bash "$TMP/copy" "$(realpath "$libc")" "$TMP/load-1" &
private=$!
has_copy() {
	grep -q "^[^ ]* r-xp [^ ]* [^ ]* $(stat -c %i "$TMP/copy") .*/libc" "/proc/$private/maps"
}
expect_soon 10 has_copy
expect_exit 0 "$KYMO" calls --direct -d 1 --call libc.so.6:fopen -p $private
assert_says "$TMP/stdout" 'fopen("/dev/null", "r")'
assert_says "$TMP/stderr" "process $private uses another 'libc.so.6' than this machine"
expect_exit 0 "$KYMO" record --direct -d 1 -e sched --moment libc.so.6:fopen -p $private \
	-o "$TMP/moments.fxt"
expect_exit 0 "$KYMO" moments "$TMP/moments.fxt"
assert_says "$TMP/stdout" fopen

note "processes with another file: a recording and its archive name it"
"$TMP/load-1" &
expect_exit 0 "$KYMO" record --direct -d 1 -e calls --call libc.so.6:fopen --json \
	-o "$TMP/others.fxt"
kill "$!"
assert_says "$TMP/stderr" " mapped other files than those with probes, so calls in them are missing: "
# (its path is that of the file with probes)
holds "$TMP/stdout" '.other_files | contains("another '"$(realpath "$libc")"' (")'
expect_exit 0 "$KYMO" calls "$TMP/others.fxt"
assert_says "$TMP/stdout" 'fopen("/dev/null", "r")'
assert_says "$TMP/stderr" " mapped other files than those with probes, so calls in them are missing: "
expect_exit 0 "$KYMO" calls --json "$TMP/others.fxt"
holds "$TMP/stdout" "select(.other_file and .process_id == $private) | .file | endswith(\"/libc.so.6\")"
expect_exit 0 "$KYMO" summary --json "$TMP/others.fxt"
holds "$TMP/stdout" '.other_files[] | .processes > 0 and (.file | endswith("libc.so.6"))'

note "a library by the name of a link, in another root directory"
# (The name is a link to an absolute path, which means another file, or none, from here.)
mkdir -p "$TMP/root/lib"
echo '__attribute__((noipa)) int linked(int n) { return n; }' |
	gcc -g -shared -fPIC -O2 -Wl,-soname,libz.so.1 -o "$TMP/root/lib/libz.so.1.9" -x c -
ln -s /lib/libz.so.1.9 "$TMP/root/lib/libz.so.1"
gcc -O2 -o "$TMP/root/links" -x c - -L"$TMP/root/lib" -l:libz.so.1.9 -Wl,-rpath,/lib <<-END
	#include <unistd.h>
	int linked(int n);
	__attribute__((noipa)) int turn_4(int n) { return n + 4; }
	int main(void)
	{
		for (int i = 0;; i++) {
			linked(turn_4(i));
			usleep(20000);
		}
	}
END
ldd "$TMP/load-1" | grep -o '/[^ ]*' | while read -r file; do
	mkdir -p "$TMP/root$(dirname "$file")"
	cp -L "$file" "$TMP/root$file"
done
chroot "$TMP/root" /links &
links=$!
expect_soon 10 grep -q libz.so.1.9 "/proc/$links/maps"
assert_eq "$(readlink "/proc/$links/root")" "$TMP/root" "the root directory of the process"
for name in libz.so.1 libz.so.1.9 /lib/libz.so.1.9 "$TMP/root/lib/libz.so.1.9"; do
	expect_exit 0 "$KYMO" calls --direct -d 1 --call "$name:linked" -p $links
	assert_contains "$TMP/stdout" 'linked\([0-9]+\) += [0-9]'
	! grep -F 'has loaded' "$TMP/stderr" || fail "the process has loaded the library"
done
note "a link to a path, in another root directory: a file by that name here is not meant"
ln -s "$TMP/load-1" "$TMP/root/shown"
ln -s /links "$TMP/root/hidden"
expect_exit 1 "$KYMO" calls --direct -d 1 --call "/shown:turn_1" -p $links
expect_exit 0 "$KYMO" calls --direct -d 1 --call /hidden:turn_4 -p $links
assert_contains "$TMP/stdout" 'turn_4\('
kill $links

note "a path that only that namespace has"
mkdir "$TMP/inner"
unshare -m bash -c 'mount -t tmpfs none "$1" && cp "$2" "$1/hidden" && exec "$1/hidden"' \
	bash "$TMP/inner" "$TMP/load-1" &
hidden=$!
runs_hidden() {
	[ "$(cat "/proc/$hidden/comm")" = hidden ]
}
expect_soon 10 runs_hidden
expect_exit 0 "$KYMO" calls --direct -d 1 --call "$TMP/inner/hidden:turn_1" -p $hidden
assert_contains "$TMP/stdout" 'turn_1\('
kill $hidden $private

note "a process whose first thread has ended: another thread shows its files"
gcc -O2 -o "$TMP/headless" -x c - -pthread <<-END
	#include <pthread.h>
	#include <unistd.h>
	__attribute__((noipa)) int turn_3(int n) { return n + 3; }
	static void *turn(void *unused)
	{
		(void)unused;
		for (int i = 0;; i++) {
			turn_3(i);
			usleep(20000);
		}
	}
	int main(void)
	{
		pthread_t t;

		pthread_create(&t, 0, turn, 0);
		pthread_exit(0);
	}
END
"$TMP/headless" &
headless=$!
has_no_maps() {
	[ "$(awk '$1 == "State:" { print $2 }' "/proc/$headless/status")" = Z ]
}
expect_soon 10 has_no_maps
expect_exit 0 "$KYMO" calls --direct -d 1 --call "$TMP/headless:turn_3" -p $headless
assert_contains "$TMP/stdout" 'turn_3\('
! grep -F 'has loaded' "$TMP/stderr" || fail "the file of the process is not found"
kill $headless

note "a process that has this machine's file: nothing is said of another one"
"$TMP/load-1" &
has_libc() {
	grep -q '/load-1$' "/proc/$1/maps" && grep -q 'r-xp.*/libc[.-]' "/proc/$1/maps"
}
expect_soon 10 has_libc $!
expect_exit 0 "$KYMO" calls --direct -d 1 --call libc.so.6:fopen -p $!
assert_says "$TMP/stdout" 'fopen("/dev/null", "r")'
assert_empty "$TMP/stderr"
kill $!

note "in a pid namespace, processes cannot be selected"
expect_exit 125 unshare -pf --mount-proc \
	"$KYMO" calls --direct --call "$TMP/load-1:turn_1" -- "$TMP/load-1" some
assert_says "$TMP/stderr" "because this process is in a pid namespace of its own"

note "in a pid namespace, stacks of its own processes are walked by tables"
gcc -O2 -x c -o "$TMP/burn" - <<-'END'
	volatile unsigned long sum;

	__attribute__((noinline)) static void burn_inner(void)
	{
		for (unsigned long i = 0; i < 1000000000; i++)
			sum += i;
	}

	__attribute__((noinline)) static void burn_outer(void)
	{
		burn_inner();
		sum++;
	}

	int main(void)
	{
		burn_outer();
		return 0;
	}
END
expect_exit 0 unshare -pf --mount-proc "$KYMO" record --direct --force -o "$TMP/pids.fxt" -- "$TMP/burn"
assert_says "$TMP/stderr" "only in processes of the container that start during the recording"
expect_exit 0 "$KYMO" flame --format folded -o "$TMP/folded" "$TMP/pids.fxt"
assert_says "$TMP/folded" 'main;burn_outer;burn_inner' "stacks of a process in the pid namespace"

note "in a cgroup namespace, cgroups cannot be selected"
if unshare -C true 2>/dev/null; then
	expect_exit 1 unshare -C "$KYMO" record --direct --force --unit some -o "$TMP/t.fxt" -- true
	assert_says "$TMP/stderr" "cgroups cannot be selected in a cgroup namespace (a container)"
fi

note "in a time namespace with other clocks, nothing is recorded"
if unshare -T true 2>/dev/null; then
	expect_exit 125 unshare -T --monotonic 1000 --boottime 1000 \
		"$KYMO" record --direct -o "$TMP/t.fxt" -- true
	assert_says "$TMP/stderr" "because this process is in a time namespace of its own"
	# (in one without offsets, the clocks are the same)
	expect_exit 0 unshare -T "$KYMO" record --direct -o "$TMP/t.fxt" -- true
	# The clocks of recorded programs do not matter.
	expect_exit 0 "$KYMO" calls --direct --call "$TMP/load-1:turn_1" -- \
		unshare -T --monotonic 1000 --boottime 1000 "$TMP/load-1" some
	assert_contains "$TMP/stdout" 'turn_1\('
fi

note "a file that is replaced meanwhile"
cp "$TMP/load-1" "$TMP/replaced"
"$KYMO" calls --direct -d 60 --call "$TMP/replaced:turn_1" >"$TMP/calls" 2>"$TMP/calls.stderr" &
recorder=$!
see_calls() {
	"$TMP/replaced" some
	[ -s "$TMP/calls" ]
}
expect_soon 20 see_calls
cp "$TMP/load-2" "$TMP/new"
mv "$TMP/new" "$TMP/replaced"
"$TMP/replaced" some
pkill -INT -P $recorder
status=0
wait $recorder || status=$?
assert_eq "$status" 3 "exit status where a file was replaced"
assert_line "$TMP/calls.stderr" "the recording: $TMP/replaced was replaced during the recording: \
calls and moments of the new file are missing; record again"
! grep -F 'name such a file' "$TMP/calls.stderr" || fail "the advice to name a file by its path, which it was"
note "... and its archive, later"
cp "$TMP/load-1" "$TMP/replaced"
"$KYMO" record --direct -e calls --call "$TMP/replaced:turn_1" -o "$TMP/replaced.fxt" -- \
	sh -c '"$1" some; cp "$2" "$3" && mv "$3" "$1" && "$1" some' - "$TMP/replaced" "$TMP/load-2" "$TMP/new" \
	2>"$TMP/log" || true
expect_exit 0 "$KYMO" calls "$TMP/replaced.fxt"
assert_contains "$TMP/stdout" 'turn_1\('
assert_says "$TMP/stderr" "another $TMP/replaced (1 process); a file with the same path was replaced during the recording"
no_bpf_left
