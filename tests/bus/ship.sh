#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo ship`: chunks of a collection are handed over while their target is away, full and
# read-only, and while the command is killed. No chunk is missing in the end, none is there twice,
# and `kymo status` shows the backlog. From meson, KYMOD is the daemon whose sessions need no kernel.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command busctl gojq unshare

start_bus
mkdir "$TMP/etc" "$TMP/out" "$TMP/mine"
export RUNTIME_DIRECTORY=$TMP/run KYMO_SHIP_DIR=$TMP/backlog
"$KYMOD" --bus "$BUS" --config-dir "$TMP/etc" --state-dir "$TMP/state" >"$TMP/kymod.log" 2>&1 &
# shellcheck disable=SC2034 # for stop_kymod
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
ship() {
	"$KYMO" ship --config-dir "$TMP/etc" --state-dir "$TMP/ship" "$@"
}
configure() {
	printf '[Output]\nDirectory=%s\n[Export]\n' "$TMP/out" >"$TMP/etc/flow.conf"
	cat >>"$TMP/etc/flow.conf"
}

note "what is configured wrongly"
configure <<-END
	Format=parquet
END
expect_exit 2 ship flow
assert_says "$TMP/stderr" "flow.conf:4: Format= has no effect without To= or Run=" "format alone"
configure </dev/null
expect_exit 2 ship flow
assert_says "$TMP/stderr" "has neither To= nor Run= in [Export]" "nothing to do"
expect_exit 1 ship other
assert_says "$TMP/stderr" "cannot read $TMP/etc/other.conf: No such file" "no collection"
expect_exit 2 ship ../flow
configure <<-END
	Run=true
END
chmod 666 "$TMP/etc/flow.conf"
expect_exit 1 ship flow
assert_says "$TMP/stderr" "users other than root can write to it" "the file of everybody"
chmod 644 "$TMP/etc/flow.conf"
printf '[Collection]\nCategories=sched\n[Export]\nFormat=pprof\nTo=/srv\n' >"$TMP/etc/bare.conf"
expect_exit 1 "$KYMO" verify-profile "$TMP/etc/bare.conf"
assert_says "$TMP/stdout" "bare.conf:4: Format=pprof needs 'profile' or 'offcpu'" "no stacks"

# ---- chunks ----

# Each chunk has a host of its own, so that its content can be told.
n_chunks=0
chunk_name() {
	printf 'flow-20261130T03%02d00.000000Z-20261130T03%02d59.999999Z' "$1" "$1"
}
# add N: N more chunks appear, whole, as the service makes them
add() {
	local i name

	for ((i = 0; i < $1; i++)); do
		n_chunks=$((n_chunks + 1))
		name=$(chunk_name $n_chunks).fxt
		"$MAKE_PROFILE" "$TMP/new" <<-END
			start chunk-$n_chunks
			task 10 sleep
			map 10 400000 1000 0 ab10 /bin/sleep
			sample 10 400100 400200
		END
		mv "$TMP/new" "$TMP/out/$name"
	done
}
host=$(uname -n)
target=$TMP/target
place="host=$host/date=2026-11-30/hour=03"
# Chunks in the target, and those that a consumer has moved away.
delivered() {
	find "$target" "$TMP/mine" -name 'part=*' -printf '%f\n' | sort
}
# Those that must be there: from FIRST on, without the LOST ones.
first=1
lost=" "
all_of_them() {
	local i

	for ((i = first; i <= n_chunks; i++)); do
		[[ $lost = *" $i "* ]] || echo "part=$(chunk_name "$i")"
	done | sort
}
assert_all_delivered() {
	assert_eq "$(delivered)" "$(all_of_them)" "chunks that were handed over: $1"
	assert_eq "$(find "$target" -name '.kymo-*')" "" "rests in the target: $1"
}
status() {
	"$KYMO" status flow --bus "$BUS" >"$TMP/status" || fail "status: $(cat "$TMP/status")"
}
shows() {
	status && grep -qE -- "$1" "$TMP/status"
}
expect_shown() {
	expect_soon 40 shows "$1"
}
start_ship() {
	"$KYMO" ship --config-dir "$TMP/etc" --state-dir "$TMP/ship" flow 2>>"$TMP/ship.log" &
	ship_pid=$!
}
stop_ship() {
	kill -TERM $ship_pid
	wait $ship_pid || fail "kymo ship ended with $?: $(cat "$TMP/ship.log")"
}

configure <<-END
	Format=parquet
	To=$target
END
busctl --address="$BUS" call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager CreateSession 'sa{sv}' \
	flow 2 profile s flow linger b true >/dev/null
status
! grep -q 'export:' "$TMP/status" || fail "an export that has not begun: $(cat "$TMP/status")"

note "the target does not exist yet"
add 2
start_ship
expect_shown '^    export:   0 chunks taken, 2 waiting \(.*, the oldest since 2026-11-30 '
expect_shown "^    waits:    To=$target cannot be opened: No such file or directory \(is it mounted\?\) \(since 20"
mkdir "$target"
expect_shown '^    export:   2 chunks taken, none waiting$'
! grep -q 'waits:' "$TMP/status" || fail "it still waits: $(cat "$TMP/status")"
assert_all_delivered "after the first two"
assert_eq "$("$PRINT_PARQUET" "$target/$place/part=$(chunk_name 2)/machine.parquet" | gojq -r .host)" chunk-2 "its content"
expect_exit 1 ship flow
assert_says "$TMP/stderr" "already being handed over by another process" "a second one"

note "it goes away for a while"
mv "$target" "$target.away"
add 3
expect_shown '^    export:   2 chunks taken, 3 waiting '
"$KYMO" status flow --json --bus "$BUS" >"$TMP/status.json"
assert_eq "$(gojq -c '.[0].export | [.waiting, .taken, .lost, .is_old]' "$TMP/status.json")" '[3,2,0,false]' "for programs"
assert_documented status "$TMP/status.json" '.[0]'
mv "$target.away" "$target"
expect_shown '^    export:   5 chunks taken, none waiting$'
assert_all_delivered "after it was away"

note "a consumer takes what is there"
mv "$target/$place"/part=* "$TMP/mine"
add 1
expect_shown '^    export:   6 chunks taken, none waiting$'
assert_all_delivered "with a consumer"

note "the recording ends, and the backlog is still shown"
expect_exit 0 "$KYMO" stop flow --bus "$BUS"
expect_exit 0 "$KYMO" status --bus "$BUS"
assert_contains "$TMP/stdout" '^flow$' "the collection"
assert_contains "$TMP/stdout" '^    export:   6 chunks taken, none waiting$' "its backlog"
expect_exit 0 "$KYMO" status --json --bus "$BUS"
assert_eq "$(gojq -c '.sessions, (.exports[] | [.name, .export.taken, .export.waiting])' "$TMP/stdout")" \
	$'[]\n["flow",6,0]' "its backlog for programs"
busctl --address="$BUS" call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager CreateSession 'sa{sv}' \
	flow 2 profile s flow linger b true >/dev/null

note "nothing ships"
stop_ship
touch -d '2 minutes ago' "$TMP/backlog/flow/status"
expect_shown '^    waits:    no news since .*: is kymo-ship@flow.service running\?$'
start_ship
is_alive() {
	status && ! grep -q 'waits:' "$TMP/status"
}
expect_soon 20 is_alive
assert_contains "$TMP/status" '^    export:   6 chunks taken, none waiting$' "the backlog"

if mount -t tmpfs -o size=160k none "$target" 2>/dev/null; then
	at_exit umount -q "$target"
	# (the earlier ones are in the directory below it)
	rm -r "$TMP/mine"
	mkdir "$TMP/mine"
	first=$((n_chunks + 1))

	note "the target is full"
	head -c 1M /dev/zero >"$target/filler" 2>/dev/null || true
	add 2
	expect_shown '^    export:   6 chunks taken, 2 waiting '
	expect_shown "^    waits:    cannot write to To=$target: No space left on device"
	assert_eq "$(delivered)" "" "chunks in a full target"
	rm "$target/filler"
	expect_shown '^    export:   [78] chunks taken'
	# As many as fit are there.
	add 3
	expect_shown 'No space left on device'
	assert_eq "$(find "$target" -name '.kymo-*')" "" "rests in the full target"
	while ! shows '^    export:   11 chunks taken, none waiting$'; do
		mv "$target/$place"/part=* "$TMP/mine" 2>/dev/null || true
		sleep 0.2
	done
	assert_all_delivered "after it was full"

	note "it is read-only"
	mv "$target/$place"/part=* "$TMP/mine" 2>/dev/null || true
	mount -o remount,ro "$target"
	add 1
	expect_shown '^    export:   11 chunks taken, 1 waiting '
	expect_shown "^    waits:    To=$target is read-only"
	mount -o remount,rw "$target"
	expect_shown '^    export:   12 chunks taken, none waiting$'
	assert_all_delivered "after it was read-only"
	umount "$target"
fi
stop_ship
assert_eq "$(grep -c 'cannot be opened: No such file' "$TMP/ship.log")" 2 "lines in the journal about a target that is away"

note "the command is killed again and again"
rm -r "$target" "$TMP/mine" "$TMP/ship" "$TMP/out" "$TMP/backlog"
mkdir "$target" "$TMP/mine" "$TMP/out"
n_chunks=0
first=1
for wait in 0.05 0.01 0.1 0.02 0.15 0.03 0.2 0.07; do
	add 2
	start_ship
	sleep $wait
	kill -KILL $ship_pid
	wait $ship_pid 2>/dev/null || true
done
expect_exit 0 ship flow --once
assert_all_delivered "after it was killed"
for ((i = 1; i <= n_chunks; i++)); do
	assert_eq "$("$PRINT_PARQUET" "$target/$place/part=$(chunk_name $i)/machine.parquet" | gojq -r .host)" "chunk-$i" "content of chunk $i"
done
assert_eq "$(ls "$TMP/ship/flow/staging")" "" "rests of conversions"
assert_eq "$(gojq -c '[.waiting, .taken, .lost]' "$TMP/backlog/flow/status")" "[0,$n_chunks,0]" "the backlog"

note "the retention removes what was not taken"
mv "$target" "$target.away"
add 2
expect_exit 1 ship flow --once
lost+="$n_chunks "
rm "$TMP/out/$(chunk_name $n_chunks).fxt"
# And what was taken, without a loss.
rm "$TMP/out/$(chunk_name 1).fxt"
mv "$target.away" "$target"
expect_exit 0 ship flow --once
assert_all_delivered "without the lost one"
expect_shown "^    export:   $((n_chunks - 1)) chunks taken, none waiting, 1 lost \(.*, removed by the retention\)$"

note "a chunk that cannot be converted, and does not stop others"
add 1
bad=$(chunk_name $n_chunks).fxt
echo nonsense >"$TMP/out/$bad"
add 1
lost+="$((n_chunks - 1)) "
expect_exit 1 ship flow --once
assert_says "$TMP/stderr" "cannot convert $bad: kymo export: " "why"
assert_all_delivered "without the bad one"
rm "$TMP/out/$bad"
expect_exit 0 ship flow --once

note "what was taken cannot be noted"
add 1
chattr +i "$TMP/ship/flow" 2>/dev/null && {
	expect_exit 1 ship flow --once
	chattr -i "$TMP/ship/flow"
}
expect_exit 0 ship flow --once
assert_all_delivered "after the state could not be written"
echo x >>"$TMP/ship/flow/state"
expect_exit 1 ship flow --once
assert_says "$TMP/stderr" "state: Bad message; if you remove it, all chunks are handed over again" "a damaged state"
rm "$TMP/ship/flow/state"
expect_exit 0 ship flow --once
assert_all_delivered "after the state was lost"

note "the directory of the chunks goes away, and comes back"
start_ship
taken=$(gojq .taken "$TMP/backlog/flow/status")
mv "$TMP/out" "$TMP/out.away"
expect_shown "^    waits:    cannot open Directory=$TMP/out: No such file or directory"
mkdir "$TMP/out"
expect_shown "^    waits:    Directory=$TMP/out is another one than before, and has none of the known chunks \(is it mounted\?"
# (as if the recording had begun before it was mounted)
cp "$TMP/out.away/$(chunk_name $n_chunks).fxt" "$TMP/out/$(chunk_name 59).fxt"
touch "$TMP/out/$(chunk_name 59).fxt"
sleep 2
shows "^    waits:    Directory=$TMP/out is another one than before" || fail "chunks of another directory: $(cat "$TMP/status")"
rm -r "$TMP/out"
mv "$TMP/out.away" "$TMP/out"
add 1
expect_shown "^    export:   $((taken + 1)) chunks taken, none waiting(, 1 lost.*)?\$"
assert_all_delivered "after the directory was away"
if mount -t tmpfs none "$TMP/out" 2>/dev/null; then
	# No event tells it.
	expect_shown "^    waits:    Directory=$TMP/out is another one than before"
	umount "$TMP/out" || fail "the directory is in use while chunks wait"
	expect_shown "^    export:   $((taken + 1)) chunks taken, none waiting"
	is_alive || expect_soon 40 is_alive
fi
stop_ship
assert_all_delivered "after another file system was there"

note "it is a new one"
mv "$TMP/out" "$TMP/out.old"
mkdir "$TMP/out"
expect_exit 1 ship flow --once
assert_says "$TMP/stderr" "If it is a new one, remove $TMP/ship/flow/state" "a new directory"
start_ship
expect_shown "^    waits:    Directory=$TMP/out is another one than before"
rm "$TMP/ship/flow/state"
expect_soon 70 is_alive
stop_ship
rm -r "$TMP/out"
mv "$TMP/out.old" "$TMP/out"
expect_exit 0 ship flow --once
assert_all_delivered "after the state was removed"

note "without events, because there are too many watches"
cat >"$TMP/unwatched" <<-END
	echo 0 >/proc/sys/user/max_inotify_watches || exit 77
	exec "$KYMO" ship --config-dir "$TMP/etc" --state-dir "$TMP/ship" flow
END
if unshare -Ur bash -c 'echo 0 >/proc/sys/user/max_inotify_watches' 2>/dev/null; then
	unshare -Ur bash "$TMP/unwatched" 2>"$TMP/ship.log" &
	ship_pid=$!
	expect_soon 10 grep -qF "flow: cannot watch Directory=$TMP/out: No space left on device; new chunks are found after up to 10 s" "$TMP/ship.log"
	add 1
	all_there() {
		[ "$(delivered)" = "$(all_of_them)" ]
	}
	expect_soon 30 all_there
	stop_ship
fi

note "a hook, with the chunk itself, and with a profile"
rm -r "$TMP/ship"
configure <<-END
	Run=[ ! -e $TMP/no ] && cp "\$1" $TMP/mine && echo "\$1" >>$TMP/hooked
END
touch "$TMP/no"
expect_exit 1 ship flow --once
assert_says "$TMP/stderr" "Run= did not take $(chunk_name 2).fxt: exited with 1" "the hook fails"
rm "$TMP/no"
expect_exit 0 ship flow --once
assert_eq "$(sort "$TMP/hooked" | uniq -d)" "" "chunks that were given to the hook twice"
assert_eq "$(ls "$TMP/mine")" "$(ls "$TMP/out")" "chunks that the hook got"
for file in "$TMP/out"/*; do
	cmp "$file" "$TMP/mine/${file##*/}" || fail "the hook got another chunk"
done
rm -r "$TMP/ship" "$TMP/hooked" "$target"
mkdir "$target"
configure <<-END
	Format=pprof
	To=$target
	Run=echo "\$1" >>$TMP/hooked
END
"$MAKE_PROFILE" "$TMP/new" <<<"start idle"
n_chunks=$((n_chunks + 1))
mv "$TMP/new" "$TMP/out/$(chunk_name $n_chunks).fxt"
expect_exit 0 ship flow --once
assert_eq "$(find "$target" -name '*.pb.gz' | sort)" "$(sort "$TMP/hooked")" "profiles and calls of the hook"
assert_eq "$(find "$target" -name '*.pb.gz' | wc -l)" "$(find "$TMP/out" -name '*.fxt' | wc -l)" "profiles, also of an idle machine"
gzip -t "$target/$place"/*.pb.gz
