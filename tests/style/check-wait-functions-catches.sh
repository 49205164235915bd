#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-wait-functions finds a function that no kernel has, and a listed one that nobody uses.

. "$(dirname "$0")/../lib.sh"

tree=$TMP/tree
mkdir -p "$tree/reader/why" "$tree/tests/style"
cat >"$tree/reader/why/wait-functions.h" <<'END'
#define WAIT_KERNEL_FUNCTIONS(X)                                                                   \
	X("io_schedule", DISK, 2)                                                                  \
	X("mutex_lock*", KERNEL_LOCK, 3)

#define WAIT_USER_FUNCTIONS(X)                                                                     \
	X("fsync", FILE_SYSTEM)

#define WAIT_SOURCE_FUNCTIONS(X)                                                                   \
	X("bio_endio", DISK)
END
printf '# kernels\nbio_endio: 6.1\n' >"$tree/tests/style/wait-functions-seen"
printf 'ffffffff81000000 T io_schedule\nffffffff81000010 t mutex_lock_slow.isra.0\t[ext4]\n' >"$TMP/symbols"

# check EXIT: the tree, with these symbols
check() {
	expect_exit "$1" bash "$ROOT/tests/style/check-wait-functions" "$tree" "$TMP/symbols"
}

check 0
assert_empty "$TMP/stdout" "a tree without errors"

sed -i 's/io_schedule/io_shedule/' "$tree/reader/why/wait-functions.h"
check 1
assert_says "$TMP/stdout" "no kernel has io_shedule" "a misspelled function"
sed -i 's/io_shedule/io_schedule/' "$tree/reader/why/wait-functions.h"

echo 'gone: 6.1' >>"$tree/tests/style/wait-functions-seen"
check 1
assert_says "$TMP/stdout" "lists gone" "a function that is not in the table"
sed -i '/gone/d' "$tree/tests/style/wait-functions-seen"

note "another kernel"
expect_exit 0 bash -c "bash '$ROOT/tests/style/check-wait-functions' --add 6.18 '$tree' <'$TMP/symbols'"
assert_eq "$(paste -sd, "$TMP/stdout")" '# kernels,bio_endio: 6.1,io_schedule: 6.18,mutex_lock*: 6.18' "the list"
