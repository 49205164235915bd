#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# stack-depths.sh OBJECT CLANG: Linux 6.1 accepts the stacks of all eBPF programs, with those of the
# functions that they call: 512 bytes, in 8 frames. And stack-depths finds those that it refuses.

. "$(dirname "$0")/../lib.sh"

object=$1 clang=$2

# ---- kymo's programs ----

expect_exit 0 "$STACK_DEPTHS" "$object"
assert_ge "$(awk '$1 == "program"' "$TMP/stdout" | wc -l)" 20 "programs"
note "programs with more than 448 of 512 bytes:"
awk '$2 > 448 { sub("program ", ""); print }' "$TMP/stdout" | sort -rn | while read -r line; do
	note "  $line"
done

# ---- others ----

# made NAME CODE: an object with a program NAME
made() {
	cat >"$TMP/$1.c" <<-END
		#define __section(name) __attribute__((section(name), used))
		#define __noinline __attribute__((noinline))
		typedef unsigned long long u64;
		static long (*bpf_probe_read_user)(void *, unsigned, const void *) = (void *)112;
		static long (*bpf_loop)(unsigned, void *, void *, u64) = (void *)181;
		/* (a frame of N bytes) */
		#define USE(n) char room[n]; bpf_probe_read_user(room, n, at)
		$2
	END
	"$clang" -g -O2 -target bpf -mcpu=v3 -c "$TMP/$1.c" -o "$TMP/$1.o"
}

# judged EXIT LINE NAME CODE
judged() {
	made "$3" "$4"
	expect_exit "$1" "$STACK_DEPTHS" "$TMP/$3.o"
	assert_eq "$(cat "$TMP/stdout")" "program $2" "$3"
}

judged 0 "32 1 small 0" small '
	__section("uprobe") int small(void *at) { return 0; }'
judged 0 "512 2 full 256 callee 256" full '
	__noinline int callee(void *at) { USE(256); return room[1]; }
	__section("uprobe") int full(void *at) { USE(256); return callee(at) + room[3]; }'
judged 1 "544 2 deep 264 callee 256" deep '
	__noinline int callee(void *at) { USE(256); return room[1]; }
	__section("uprobe") int deep(void *at) { USE(264); return callee(at) + room[3]; }'
judged 1 "544 2 inside 264 callee 256" inside '
	static __noinline int callee(void *at) { USE(256); return room[1]; }
	__section("uprobe") int inside(void *at) { USE(264); return callee(at) + callee(at + 1) + room[3]; }'
judged 1 "544 2 loop 264 callback 256" loop '
	static long callback(unsigned i, void *at) { USE(256); return room[1]; }
	__section("uprobe") int loop(void *at) { USE(264); bpf_loop(9, callback, at, 0); return room[3]; }'
judged 1 "288 9 frames 0 f8 0 f7 0 f6 0 f5 0 f4 0 f3 0 f2 0 f1 0" frames '
	__noinline int f1(void *at) { return bpf_probe_read_user(at, 1, at); }
	__noinline int f2(void *at) { return f1(at) + 1; }
	__noinline int f3(void *at) { return f2(at) + 1; }
	__noinline int f4(void *at) { return f3(at) + 1; }
	__noinline int f5(void *at) { return f4(at) + 1; }
	__noinline int f6(void *at) { return f5(at) + 1; }
	__noinline int f7(void *at) { return f6(at) + 1; }
	__noinline int f8(void *at) { return f7(at) + 1; }
	__section("uprobe") int frames(void *at) { return f8(at) + 1; }'
expect_exit 2 "$STACK_DEPTHS" "$0"
