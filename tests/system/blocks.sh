#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Requests of block devices: of a loop device that only this test uses, their numbers and bytes are
# those of the load, and those that the kernel has counted (/sys/block/DEVICE/stat).

. "$(dirname "$0")/../lib.sh"
need_btf
need_command losetup blockdev
truncate -s 8M "$TMP/image"
loop=$(losetup --show -f "$TMP/image" 2>/dev/null) || skip "there are no loop devices here"
at_exit losetup -d "$loop"
dd if="$loop" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null || skip "$loop cannot be opened"
name=${loop#/dev/}

# The device has no other requests: no file system, and all data is read and written directly.
cat >"$TMP/load.sh" <<-END
	cat "/sys/block/$name/stat" >"$TMP/before"
	dd if="$loop" of=/dev/null bs=4k count=100 iflag=direct
	dd if=/dev/zero of="$loop" bs=16k count=50 seek=3 oflag=direct conv=notrunc
	cat "/sys/block/$name/stat" >"$TMP/after"
END

# requests OPERATION: prints the requests of the device in $DUMP.
requests() {
	# shellcheck disable=SC2016
	gojq -c --arg name "$name" --arg op "$1" 'select(.record == "event" and .category == "block" and .name == $op) |
		.args |= from_entries | select(.args.name == $name)' "$DUMP"
}

# counted FIELD: prints by how much a number in the kernel's statistics has grown.
counted() {
	echo $(($(awk -v f="$1" '{ print $f }' "$TMP/after") - $(awk -v f="$1" '{ print $f }' "$TMP/before")))
}

record_around "$TMP/all.fxt" -e sched,block -- bash "$TMP/load.sh"
dump_records "$TMP/all.fxt"
requests read >"$TMP/reads"
requests write >"$TMP/writes"
assert_eq "$(counted 1) $(counted 3) $(counted 5) $(counted 7)" "100 800 50 1600" "requests that the kernel has counted"
assert_eq "$(wc -l <"$TMP/reads")" 100 "reads"
assert_eq "$(wc -l <"$TMP/writes")" 50 "writes"
assert_eq "$(json "$TMP/reads" '.args | "\(.sector) \(.bytes)"' | sort -n | tr '\n' ,)" \
	"$(for i in {0..99}; do printf '%d 4096,' $((8 * i)); done)" "sectors and sizes of reads"
assert_eq "$(json "$TMP/writes" '.args | "\(.sector) \(.bytes)"' | sort -n | tr '\n' ,)" \
	"$(for i in {3..52}; do printf '%d 16384,' $((32 * i)); done)" "sectors and sizes of writes"
device=$((0x$(stat -c %t "$loop") << 8 | 0x$(stat -c %T "$loop")))
holds "$TMP/reads" ".args.device == $device and (.args | has(\"error\") | not)" || fail "the device or an error"

# The thread of each request is the one that called read() or write(), and dd is its name.
gojq -r 'select(.record == "kernel_object" and .name == "dd") | .koid' "$DUMP" | sort -u >"$TMP/dds"
json "$TMP/reads" .args.thread | cat - <(json "$TMP/writes" .args.thread) | sort -u >"$TMP/threads"
assert_eq "$(comm -23 "$TMP/threads" "$TMP/dds" | wc -l) $(wc -l <"$TMP/threads")" "0 2" "threads of requests"
expect_exit 0 "$KYMO" check "$TMP/all.fxt"
# Operations and devices are no secrets.
expect_exit 0 "$KYMO" redact "$TMP/all.fxt" "$TMP/redacted.fxt"
dump_records "$TMP/redacted.fxt"
requests read >"$TMP/reads"
assert_eq "$(wc -l <"$TMP/reads")" 100 "reads in a redacted archive"
"$KYMO" summary --json "$TMP/all.fxt" >"$TMP/summary.json"
# shellcheck disable=SC2016
holds "$TMP/summary.json" '.block | map(select(.disk == $name) | "\(.op) \(.count) \(.bytes) \(.n_errors)") | sort ==
	["read 100 409600 0", "write 50 819200 0"]' --arg name "$name" || fail "the sums: $(json "$TMP/summary.json" -c .block)"
expect_exit 0 "$KYMO" summary "$TMP/all.fxt"
assert_contains "$TMP/stdout" "^ +100 .* 400[.]0 KiB +0  $name read" "the reads in kymo summary"
"$KYMO" latency --json --metric block --by name "$TMP/all.fxt" >"$TMP/latency.json"
assert_contains "$TMP/latency.json" "\"$name read\"" "the device in latencies"

# A wait of a thread that has sent requests names the device.
# (by its id: other programs of this name can wait longer meanwhile)
record_around "$TMP/why.fxt" -e sched,offcpu,block --offcpu-min 1us -- \
	bash -c 'echo $$ >"$1" && shift && exec "$@"' bash "$TMP/dd.pid" \
	dd if="$loop" of=/dev/null bs=256k count=32 iflag=direct
expect_exit 0 "$KYMO" why --worst 50 "$TMP/why.fxt" "$(cat "$TMP/dd.pid")"
assert_contains "$TMP/stdout" "dd \\([0-9]*\\) sent [0-9]* requests? to $name; the longest took" "the device in kymo why"

# With a filter, only the requests of selected threads are recorded.
expect_exit 0 "$KYMO" record --direct -o "$TMP/filtered.fxt" -e sched,block --comm no-such-program -- bash "$TMP/load.sh"
dump_records "$TMP/filtered.fxt"
requests read >"$TMP/reads"
assert_empty "$TMP/reads" "requests of threads that are not selected"

# An error of a device: the backing file is shorter than the device.
truncate -s 0 "$TMP/image"
expect_exit 0 "$KYMO" record --direct -o "$TMP/error.fxt" -e block -- \
	bash -c "! dd if='$loop' of=/dev/null bs=4k count=1 iflag=direct"
dump_records "$TMP/error.fxt"
requests read >"$TMP/reads"
assert_ge "$(json "$TMP/reads" '.args.error // 0 | select(. == 5)' | wc -l)" 1 "failed reads (EIO)"
