#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo symbolize --from-table`: exported tables get the names that the archive would have got before
# the export, on a machine that has only the debug files.

. "$(dirname "$0")/../lib.sh"
need_command cc nm readelf objcopy strings gojq

corpus=$ROOT/tests/fuzz/corpus/parquet
cd "$TMP" || exit 1
cat >program.c <<-END
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
cc -O1 -g -no-pie -fno-pie -fno-reorder-functions -Wl,--build-id=sha1 program.c -o program || skip "cc makes no such programs"
id=$(readelf -n program | sed -n 's/.*Build ID: //p')
[ "$id" ] || skip "cc gives programs no build id"

# address FUNCTION OFFSET; end_of FUNCTION
address() {
	printf '%x' $((0x$(nm program | awk -v f="$1" '$3 == f { print $1 }') + $2))
}
end_of() {
	nm -S program | while read -r start size _ name; do
		[ "$name" != "$1" ] || printf '%x' $((0x$start + 0x$size))
	done
}
map() {
	readelf -lW program | while read -r type offset vaddr _ _ size flags; do
		case "$type $flags" in
		LOAD\ *R*E*)
			printf 'map 10 %x %x %x %s %s\n' $((vaddr & ~4095)) \
				$((((vaddr & 4095) + size + 4095) & ~4095)) $((offset & ~4095)) "$1" "$TMP/program"
			;;
		esac
	done
}
# An archive with each address of work(), the ends of functions as return addresses, an address
# without a file, and a name.
lines() {
	local i

	printf 'start web-1\ntask 10 prog\n'
	map "$1"
	for ((i = 0; i < 16; i++)); do
		echo "sample 10 $(address work "$i") $(end_of leaves) $(end_of main)"
	done
	echo "sample 10 7f0000001000"
	echo "frame 10 $(address behind 0) 0 7 own.c own_name"
	echo "sample 10 $(address behind 0)"
}
lines "$id" >profile
"$MAKE_PROFILE" a.fxt <profile
rows() {
	"$PRINT_PARQUET" "$1/frames.parquet"
}
expect_exit 0 "$KYMO" export --format parquet a.fxt -o plain
cp -r plain debug-dir
cp -r plain debuginfod
expect_exit 0 "$KYMO" symbolize a.fxt named.fxt
expect_exit 0 "$KYMO" export --format parquet named.fxt -o wanted
rows wanted >wanted.json
assert_eq "$(gojq -r .function wanted.json | sort -u | paste -sd' ')" "inner leaves main null own_name work" "names"

note "on this machine, the program itself"
expect_exit 0 "$KYMO" symbolize --from-table --json plain
assert_eq "$(gojq -c '[.tables, .changed, .known_before, .without_build_id, .unnamed]' stdout)" '[1,1,1,1,0]' "report"
assert_eq "$(gojq -c '.frames == .named + .known_before + .without_build_id' stdout)" true "the sum"
rows plain >found.json
cmp wanted.json found.json || fail "other names: $(diff wanted.json found.json)"
cmp plain/stacks.parquet wanted/stacks.parquet || fail "the other tables have changed"
inode=$(stat -c %i plain/frames.parquet)
expect_exit 0 "$KYMO" symbolize --from-table plain
assert_contains stderr '^0 of 1 table changed: of [0-9]* frames, 0 got names, ' "again"
assert_eq "$(stat -c %i plain/frames.parquet)" "$inode" "a table without new names"
assert_eq "$(tail -c 300 plain/frames.parquet | strings | grep -A1 kymo.host | tail -1 | cut -c-5)" web-1 "the host in the file"

note "elsewhere, with a debug directory"
mkdir -p "debug/.build-id/${id:0:2}" moved
objcopy --only-keep-debug program "debug/.build-id/${id:0:2}/${id:2}.debug"
mv program moved
expect_exit 0 "$KYMO" symbolize --from-table debug-dir
assert_contains stderr '^0 of 1 table changed: .* 0 got names, 1 already had names, 1 have no build id, and [0-9]+ were not found$' "without the files"
expect_exit 0 "$KYMO" symbolize --from-table --debug-dir debug debug-dir/frames.parquet
rows debug-dir >found.json
cmp wanted.json found.json || fail "other names: $(diff wanted.json found.json)"

note "all tables of a data set"
mkdir -p fleet/host=a/date=2026-11-30 fleet/host=b fleet/.kymo-part
for part in host=a/date=2026-11-30/hour=01 host=b/hour=02 .kymo-part/hour=03; do
	"$KYMO" export --format parquet a.fxt -o "fleet/$part" 2>/dev/null
done
chmod 640 fleet/host=b/hour=02/frames.parquet
echo damaged >fleet/host=a/frames.parquet
expect_exit 1 "$KYMO" symbolize --from-table --debug-dir debug fleet
assert_says stderr "fleet/host=a/frames.parquet is damaged, or no table of kymo (magic)" "a damaged one"
assert_contains stderr '^2 of 3 tables changed: ' "the others"
for part in host=a/date=2026-11-30/hour=01 host=b/hour=02; do
	rows "fleet/$part" >found.json
	cmp wanted.json found.json || fail "other names in $part"
done
rows fleet/.kymo-part/hour=03 | cmp -s - wanted.json && fail "a table that is not complete has changed"
assert_eq "$(stat -c %a fleet/host=b/hour=02/frames.parquet)" 640 "mode of a table"
assert_eq "$(find fleet -name '.kymo-[0-9]*')" "" "rests"

note "a table that has two names"
"$KYMO" export --format parquet a.fxt -o linked 2>/dev/null
ln linked/frames.parquet snapshot.parquet
cp linked/frames.parquet before.parquet
expect_exit 1 "$KYMO" symbolize --from-table --debug-dir debug linked
assert_says stderr "cannot replace linked/frames.parquet: it has other hard links"
cmp before.parquet snapshot.parquet || fail "the table has changed"

note "another build"
sed "s/ $id / 00${id:2} /" profile >other
"$MAKE_PROFILE" b.fxt <other
expect_exit 0 "$KYMO" export --format parquet b.fxt -o another
expect_exit 0 "$KYMO" symbolize --from-table --debug-dir debug --sysroot moved another
assert_contains stderr '^0 of 1 table changed: .* 0 got names' "another build"

note "a server of debug files"
mkdir -p "tree/buildid/$id"
cp "debug/.build-id/${id:0:2}/${id:2}.debug" "tree/buildid/$id/debuginfo"
"$SERVE_TREE" "$TMP/tree" >served &
expect_soon 20 test -s served
expect_exit 0 env DEBUGINFOD_URLS="http://127.0.0.1:$(head -1 served)" DEBUGINFOD_CACHE_PATH="$TMP/cache" \
	DEBUGINFOD_PROGRESS= DEBUGINFOD_VERBOSE= "$KYMO" symbolize --from-table --debuginfod --json debuginfod
if [ "$(wc -l <served)" -gt 1 ]; then
	rows debuginfod >found.json
	cmp wanted.json found.json || fail "other names: $(diff wanted.json found.json)"
else
	note "not tested: built without debuginfod, or there is no libdebuginfod.so.1"
fi

note "what is wrong"
expect_exit 2 "$KYMO" symbolize --from-table
assert_says stderr "expected tables of frames, or directories with them"
expect_exit 2 "$KYMO" symbolize --from-table --force plain
assert_says stderr "so that --force has no effect"
expect_exit 1 "$KYMO" symbolize --from-table nothing
assert_says stderr "cannot open nothing: No such file or directory"
expect_exit 1 "$KYMO" symbolize --from-table moved
assert_says stderr "there is no frames.parquet in these directories"
expect_exit 1 "$KYMO" symbolize --from-table plain/stacks.parquet
assert_says stderr "plain/stacks.parquet has other columns than the table 'frames' of this version"
expect_exit 2 "$KYMO" symbolize a.fxt
for file in "$corpus"/*; do
	expect_exit 1 "$KYMO" symbolize --from-table "$file"
done
