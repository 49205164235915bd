#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A collection is recorded and exported at the same time. `kymo ship` runs as in its unit: as another
# user, who can read the archives only by a capability, which its converters and its hook do not
# have. The tables of each chunk have the events of the chunk.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command setpriv gojq

mkdir "$TMP/etc" "$TMP/out" "$TMP/fleet" "$TMP/ship" "$TMP/backlog"
chmod 755 "$TMP"
chmod 700 "$TMP/out"
chown 65534:65534 "$TMP/fleet" "$TMP/ship" "$TMP/backlog"
export RUNTIME_DIRECTORY=$TMP/run KYMO_SHIP_DIR=$TMP/backlog
start_bus
"$KYMOD" --bus "$BUS" --config-dir "$TMP/etc" >"$TMP/kymod.log" 2>&1 &
# shellcheck disable=SC2034 # for stop_kymod
KYMOD_PID=$!
expect_soon 10 "$KYMO" list --bus "$BUS"
cat >"$TMP/etc/flow.conf" <<-END
	[Collection]
	Categories=sched profile
	Compress=zstd
	[Output]
	Directory=$TMP/out
	RotateTime=1s
	[Export]
	Format=parquet
	To=$TMP/fleet
	Run=grep CapEff /proc/self/status >>$TMP/fleet/rights; cat $TMP/out/*.zst
END
as_unit=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs
	"--bounding-set=-all,+dac_read_search" "--inh-caps=-all,+dac_read_search"
	"--ambient-caps=-all,+dac_read_search")
"${as_unit[@]}" true 2>/dev/null || skip "setpriv cannot set ambient capabilities"
"$KYMO" collect flow --bus "$BUS" 2>"$TMP/collect.log" &
collect_pid=$!
expect_soon 20 session_is_running flow
"${as_unit[@]}" "$KYMO" ship --config-dir "$TMP/etc" --state-dir "$TMP/ship" flow 2>"$TMP/ship.log" &
ship_pid=$!

has_chunks() {
	"$KYMO_LOAD" pingpong 500 >/dev/null
	[ "$(find "$TMP/out" -name 'flow-*.fxt.zst' | wc -l)" -ge 3 ]
}
expect_soon 60 has_chunks
note "the hook cannot read the archives, so it takes nothing"
waits() {
	"$KYMO" status flow --bus "$BUS" >"$TMP/status" && grep -q '^    waits:    Run= did not take part=.*: exited with 1' "$TMP/status"
}
expect_soon 60 waits
kill -TERM $ship_pid
wait $ship_pid || fail "kymo ship ended with $?: $(cat "$TMP/ship.log")"
assert_eq "$(sort -u "$TMP/fleet/rights")" "$(printf 'CapEff:\t%016d' 0)" "capabilities of the hook"
sed -i 's/; cat .*//' "$TMP/etc/flow.conf"
"${as_unit[@]}" "$KYMO" ship --config-dir "$TMP/etc" --state-dir "$TMP/ship" flow 2>"$TMP/ship.log" &
ship_pid=$!
kill -TERM $collect_pid
wait $collect_pid || fail "kymo collect failed: $(cat "$TMP/collect.log")"
n_chunks=$(find "$TMP/out" -name 'flow-*.fxt.zst' | wc -l)
all_taken() {
	"$KYMO" status --bus "$BUS" >"$TMP/status" && grep -q "^    export:   $n_chunks chunks taken, none waiting\$" "$TMP/status"
}
expect_soon 60 all_taken
kill -TERM $ship_pid
wait $ship_pid || fail "kymo ship ended with $?: $(cat "$TMP/ship.log")"

note "the tables of $n_chunks chunks"
assert_eq "$(find "$TMP/fleet" -name 'part=*' | wc -l)" "$n_chunks" "parts"
for chunk in "$TMP/out"/*.fxt.zst; do
	part=$(echo "$TMP"/fleet/host=*/date=*/hour=*/part="$(basename "$chunk" .fxt.zst)")
	"$KYMO" summary --json "$chunk" >"$TMP/summary.json" || [ $? = 3 ]
	"$PRINT_PARQUET" "$part/machine.parquet" >"$TMP/machine.json"
	assert_eq "$(gojq -c '[.switches, .wakeups, .host]' "$TMP/machine.json")" \
		"$(gojq -c --arg host "$(uname -n)" '[.events.switch, .events.wakeup, $host]' "$TMP/summary.json")" \
		"tables of ${chunk##*/}"
	assert_eq "$(stat -c %u "$part")" 65534 "owner of the result"
done
