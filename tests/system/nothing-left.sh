#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# However a recording ends, none of its eBPF programs, links or maps stay in the kernel.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
start_bus

# begin WORD ...: starts kymo record --direct in the background, and waits until it runs
begin() {
	remember_bpf
	rm -f "$TMP/t.fxt"
	"$KYMO" record --direct -o "$TMP/t.fxt" "$@" 2>"$TMP/log" &
	pid=$!
	expect_soon 10 test -s "$TMP/t.fxt"
}

remember_bpf
expect_recorded "$TMP/d.fxt" "$KYMO" record --direct -d 200ms -o "$TMP/d.fxt"
no_bpf_left "a recording of 200 ms"
remember_bpf
expect_recorded "$TMP/all.fxt" "$KYMO" record --direct -d 200ms -o "$TMP/all.fxt" \
	-e sched,irq,softirq,workqueue,power,counters,profile,offcpu
no_bpf_left "a recording of all categories"

for signal in INT TERM HUP KILL SEGV; do
	begin
	# The check itself must work: something of ours is in the kernel now.
	no_bpf_is_left && fail "nothing of a running recording was found in the kernel"
	kill -$signal $pid
	wait $pid 2>/dev/null || true
	no_bpf_left "SIG$signal"
done

begin --max-size 256K -- "$KYMO_LOAD" --out "$TMP/truth.json" pingpong 20000
wait $pid || fail "reaching the size: $(cat "$TMP/log")"
dump_records "$TMP/t.fxt"
assert_eq "$(events session_stop | gojq -r .args.reason)" size "why it ended"
no_bpf_left "reaching the size"

# The disk is full.
if mkdir "$TMP/small" && mount -t tmpfs -o size=3m none "$TMP/small" 2>/dev/null; then
	at_exit umount "$TMP/small"
	remember_bpf
	expect_exit 125 "$KYMO" record --direct -o "$TMP/small/t.fxt" -- \
		"$KYMO_LOAD" --out "$TMP/truth.json" pingpong 50000
	assert_says "$TMP/stderr" 'No space left on device' "the message about a full disk"
	expect_checked "$TMP/small/t.fxt"
	no_bpf_left "a full disk"
fi

# The daemon, with a session that runs.
for signal in TERM INT KILL; do
	remember_bpf
	start_kymod
	rm -f "$TMP/t.fxt"
	expect_exit 0 "$KYMO" start one -o "$TMP/t.fxt" --bus "$BUS"
	no_bpf_is_left && fail "nothing of a running session was found in the kernel"
	kill -$signal "$KYMOD_PID"
	wait "$KYMOD_PID" 2>/dev/null || true
	no_bpf_left "SIG$signal to kymod"
	[ $signal = KILL ] || expect_exit 0 "$KYMO" check "$TMP/t.fxt"
done

# When a client exits, its session ends, except for sessions of `kymo start`.
remember_bpf
start_kymod
"$KYMO" record -o "$TMP/orphan.fxt" --bus "$BUS" 2>"$TMP/log" &
pid=$!
expect_soon 10 test -s "$TMP/orphan.fxt"
kill -9 $pid
wait $pid 2>/dev/null || true
no_bpf_left "the end of a client"
expect_exit 0 "$KYMO" check "$TMP/orphan.fxt"
expect_exit 0 "$KYMO" start lingering -o "$TMP/lingering.fxt" --bus "$BUS"
session_is_running lingering || fail "a started session did not outlive its client"
stop_kymod
no_bpf_left "the end of kymod"
