# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions for tests of resources and allocations, to be sourced after lib.sh: the program
# resource-load, and the functions of a program.

# start_resource_load [ARGUMENT]: starts a load that waits for go. Its pid is $LOAD, and it prints
# what it has planted to $TMP/truth.
start_resource_load() {
	rm -f "$TMP/load.fifo"
	mkfifo "$TMP/load.fifo"
	exec {FIFO}<>"$TMP/load.fifo"
	(
		exec {FIFO}>&-
		exec "$RESOURCE_LOAD" "$@" <"$TMP/load.fifo" >"$TMP/truth" 2>"$TMP/load.said"
	) &
	LOAD=$!
	at_exit clean_up_resource_load
	expect_soon 10 grep -qx resource-load "/proc/$LOAD/comm"
	expect_soon 10 is_asleep "$LOAD"
}

go() {
	echo >&"$FIFO"
}

# What a load leaves behind for good.
clean_up_resource_load() {
	local id

	while read -r _ id; do
		ipcrm -m "$id" 2>/dev/null || true
	done < <(grep '^segment ' "$TMP/load.said")
	rm -f "/dev/shm/resource-load-$LOAD"
}

end_resource_load() {
	kill "$LOAD" 2>/dev/null || true
	wait "$LOAD" 2>/dev/null || true
	clean_up_resource_load
	exec {FIFO}>&-
}

# list_functions PROGRAM: prints the functions in its file: start, end, name (16 digits, so that text
# comparison works)
list_functions() {
	nm -S "$1" | while read -r at size type name; do
		case $type in
		[tT]) printf '%016x %016x %s\n' "0x$at" "$((0x$at + 0x$size))" "$name" ;;
		esac
	done
}
