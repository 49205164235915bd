#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The package kymo of Python, as it is installed: it reads the same events as the command, also from
# pipes, packed and damaged files, as events and as columns; the example counts and judges as the
# command's records do. Without a library, it says which one is missing.
# (tests/system/python-provider.sh writes events with it.)

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pages.sh"
need_command meson python3 gojq

build=$(cd "$(dirname "$KYMO")/.." && pwd)
DESTDIR=$TMP/root meson install -C "$build" --no-rebuild --quiet \
	--tags libkymo,libkymo-provider,python-runtime >"$TMP/install" 2>&1 || {
	cat "$TMP/install" >&2
	fail "the package does not install"
}
package=$(dirname "$(dirname "$(find "$TMP/root" -path '*/kymo/__init__.py')")")
libraries=$(dirname "$(find "$TMP/root" -name libkymo.so.0)")
[ -s "$package/kymo/__init__.py" ] || fail "there is no package kymo"
[ -s "$libraries/libkymo-provider.so.0" ] || fail "there is no libkymo-provider"
READ=$ROOT/tests/support/checkers/python-read.py
export PYTHONDONTWRITEBYTECODE=1

# python ...: with the installed package
python() {
	PYTHONPATH=$package LD_LIBRARY_PATH=$libraries python3 "$@"
}

# from FILE COMMAND ...: with FILE as standard input
from() {
	"${@:2}" <"$1"
}

cd "$TMP" || exit 1
golden=$ROOT/tests/golden/fxt

# ---- the events of the command ----

for file in events everything; do
	"$KYMO" dump --json "$golden/$file.fxt" >dumped || fail "kymo dump"
	grep -E '^\{"record":"(event|context_switch|legacy_context_switch|thread_wakeup|log)"' dumped >expected
	# (gojq rounds large numbers)
	sed 's/.*"timestamp_ns":\([0-9]*\).*/\1/' expected >expected-times
	assert_ge "$(wc -l <expected-times)" 20 "events of $file.fxt"
	for method in cat gzip zstd; do
		! command -v $method >/dev/null || {
			$method <"$golden/$file.fxt" >packed
			expect_exit 0 python "$READ" events packed
			sed 's/ .*//' stdout | diff expected-times - >&2 || fail "Python has other events ($file, $method)"
			assert_empty stderr
			cp stdout by-path
			expect_exit 0 from packed python "$READ" events -
			diff by-path stdout >&2 || fail "Python has other events from a file as standard input"
			# shellcheck disable=SC2002 # a pipe
			cat packed | python "$READ" events - >by-pipe
			diff by-path by-pipe >&2 || fail "Python has other events from a pipe"
		}
	done
	expect_exit 0 python "$READ" columns "$golden/$file.fxt"
done
gojq -r 'select(.record == "event") | "\(.category) \(.name)"' expected >expected-names
expect_exit 0 python "$READ" events "$golden/everything.fxt"
sed 's/^[0-9]* //' stdout >names
while IFS= read -r name; do
	assert_line names "$name"
done <expected-names
expect_exit 0 python "$READ" arguments "$golden/everything.fxt"
assert_eq "$(<stdout)" "NoneType bool bytes float int str" "types of arguments"

# ---- damage, and much data ----

expect_exit 0 python "$READ" damaged "$golden/everything.fxt"
size=$(stat -c %s "$golden/events.fxt")
head -c $((size - 4)) "$golden/events.fxt" >truncated.fxt
expect_exit 0 python "$READ" events truncated.fxt
assert_contains stderr '^damage .+ [0-9]+ [0-9]+$'
expect_exit 0 python "$READ" errors "$TMP"
mkdir files
expect_exit 0 python "$READ" files "$golden/everything.fxt" files
for step in make million blocks; do
	expect_exit 0 python "$READ" $step million.fxt
done

# ---- trace points ----

expect_exit 0 python "$READ" points "$TMP"
expect_exit 0 "$KYMO" query W64.tdb '(> (v/value count) (v/size buf))'
assert_eq "$(<stdout)" "point 0 statement 0x11: count = 40, buf = 0x1008 (24 bytes)"

# ---- the example ----

# The lines of code are those that its readers count.
assert_le "$(grep -cv '^#' "$ROOT/examples/python-switches.py")" 10 "lines of the example"
expect_exit 0 python "$ROOT/examples/python-switches.py" "$golden/events.fxt"
dump_records "$golden/events.fxt"
assert_eq "$(sed -n 1p stdout)" "$(switches | wc -l) switches"

# ---- a part is missing ----

PYTHONPATH=$package expect_exit 0 python3 -c 'import kymo'
mkdir empty
for part in open start; do
	PYTHONPATH=$package LD_LIBRARY_PATH=$libraries expect_exit 0 python3 -c "import kymo; kymo.$part"
done
cat >old.c <<-'END'
	const char *kymo_version(void);
	const char *kymo_version(void) { return "0.2.0"; }
END
if command -v cc >/dev/null; then
	mkdir old
	cc -shared -fPIC -Wl,-soname,libkymo.so.0 -o old/libkymo.so.0 old.c
	PYTHONPATH=$package LD_LIBRARY_PATH=$TMP/old expect_exit 1 python3 -c "import kymo; kymo.open"
	assert_says stderr "ImportError: libkymo.so.0 has no function kymo_archive_open_fd: update the package libkymo0"
fi
# (a library that is installed on this machine must not be found)
printf 'not a library\n' >empty/libkymo-provider.so.0
PYTHONPATH=$package LD_LIBRARY_PATH=$TMP/empty expect_exit 1 python3 -c "import kymo; kymo.span"
assert_says stderr "ImportError: cannot load libkymo-provider.so.0 (package libkymo-provider0): "

# ---- programs that write events, without a recording ----

export KYMO_PROVIDER_DIR=$TMP/run
page_example "$ROOT/docs/kymo-python.3" 1 >sums.py
expect_exit 0 python sums.py
assert_eq "$(<stdout)" 50050000 "the sum of the example"
