#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Outputs that fail in the middle: no space, quota, device errors, readers that end or stop. The
# recording ends in order or continues, reports the reason, and the written part is valid.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command mountpoint
remember_bpf

# A small constant load, so that a failing output is not full before it fails.
"$KYMO_LOAD" sleep 10000000 100 &

# is_good FILE WHOLE: checks that only the end of FILE is missing. If WHOLE is set, no record may be
# truncated either.
is_good() {
	assert_ge "$(stat -c %s "$1")" 4096 "bytes of $1"
	expect_exit 3 "$KYMO" check --json "$1"
	assert_eq "$(json "$TMP/stdout" .cut_off)" true "$1: is its end missing?"
	assert_eq "$(json "$TMP/stdout" '.errors - (if .truncated then 1 else 0 end)')" 0 "$1: errors"
	[ "$2" = 0 ] || assert_eq "$(json "$TMP/stdout" .truncated)" false "$1: is a record cut?"
	assert_ge "$(json "$TMP/stdout" .records)" 100 "$1: records"
}

# fails FILE WHOLE REGEX COMMAND ...: checks that the recording fails with a message that matches
# REGEX
fails() {
	local file=$1 whole=$2 text=$3

	shift 3
	rm -f "$file"
	expect_exit 1 timeout "$(limit 30)" "$@"
	assert_contains "$TMP/stderr" "$text" "why it failed"
	! grep 'cannot start' "$TMP/stderr" || fail "it had started"
	is_good "$file" "$whole"
}

record=("$KYMO" record --direct -d 20 --flush 50ms)

# ---- files ----

mkdir "$TMP/small"
mount -t tmpfs -o size=2M,mode=700 none "$TMP/small" || skip "cannot mount a tmpfs"
at_exit umount "$TMP/small"

fails "$TMP/small/t.fxt" 1 'No space left' "${record[@]}" -o "$TMP/small/t.fxt"
fails "$TMP/small/t.fxt" 1 'No space left' "${record[@]}" --compress -o "$TMP/small/t.fxt"
assert_ge "$(stat -c %s "$TMP/small/t.fxt")" 200000 "bytes of the small file system that were used"
rm "$TMP/small/t.fxt"

fails "$TMP/limited.fxt" 1 'File too large' \
	bash -c 'ulimit -f 512; exec "$@"' - "${record[@]}" -o "$TMP/limited.fxt"
assert_le "$(stat -c %s "$TMP/limited.fxt")" 524288 "bytes of the limited file"

fails "$TMP/io.fxt" 1 'Input/output error' "$BAD_OUTPUT" file "$TMP/io.fxt" 5 3 -- "${record[@]}" -o "$TMP/io.fxt"
fails "$TMP/quota.fxt" 1 'Disk quota exceeded' \
	"$BAD_OUTPUT" file "$TMP/quota.fxt" 122 6 -- "${record[@]}" --compress=snappy -o "$TMP/quota.fxt"

# The output fails at the first byte: then no file is left behind.
expect_exit 1 "$BAD_OUTPUT" file "$TMP/never.fxt" 5 0 -- "${record[@]}" -o "$TMP/never.fxt"
assert_says "$TMP/stderr" 'Input/output error' "why it failed"
assert_says "$TMP/stderr" 'the recording failed' "the failed operation"
! grep 'cannot start' "$TMP/stderr" || fail "it had started"
[ ! -e "$TMP/never.fxt" ] || fail "an empty archive is left"

# ---- pipes and sockets ----

for kind in pipe socket; do
	fails "$TMP/$kind.fxt" 0 'Broken pipe|Connection reset' \
		"$BAD_OUTPUT" $kind close 200000 "$TMP/$kind.fxt" -- "${record[@]}" -o -

	# A reader pauses until rings and queue are full: records that do not fit are counted, and
	# the others are intact.
	expect_exit 3 timeout "$(limit 60)" "$BAD_OUTPUT" $kind stall 100000 2500 "$TMP/stalled.fxt" -- \
		"$KYMO" record --direct -d 2.2 --flush 10ms -b 64K -e sched -o -
	assert_contains "$TMP/stderr" 'lost [0-9]+ sched events' "the message"
	expect_exit 0 "$KYMO" check --json "$TMP/stalled.fxt"
	assert_eq "$(json "$TMP/stdout" .errors)" 0 "errors after the $kind has rested"
	assert_eq "$(json "$TMP/stdout" .cut_off)" false "is the end missing?"
	summarize "$TMP/stalled.fxt"
	assert_ge "$(lost_total)" 1 "events lost while nobody read"
done
no_bpf_left "recordings that failed"

# ---- the service ----

# One session fails. Its state and the journal contain the reason, and others continue.
start_bus
remember_bpf
start_kymod
expect_exit 0 "$KYMO" start good -o "$TMP/good.fxt" -e sched --comm kymo-load --flush 50ms --bus "$BUS"
expect_exit 0 "$KYMO" start doomed -o "$TMP/small/d.fxt" -e sched --flush 50ms --bus "$BUS"
has_failed() {
	"$KYMO" status --json doomed --bus "$BUS" >"$TMP/doomed.json" && grep -q '"failed"' "$TMP/doomed.json"
}
expect_soon 20 has_failed
assert_eq "$(json "$TMP/doomed.json" '.[0].reason')" "output failed" "its reason"
assert_says "$TMP/doomed.json" 'No space left' "its error"
assert_contains "$TMP/kymod.log" 'doomed.*No space left' "the journal"
is_good "$TMP/small/d.fxt" 1
expect_exit 1 "$KYMO" stop doomed --bus "$BUS"
assert_says "$TMP/stderr" 'No space left' "the message of stop"
expect_exit 0 session_is_running good
expect_recorded "$TMP/good.fxt" "$KYMO" stop good --bus "$BUS"
expect_exit 0 "$KYMO" check "$TMP/good.fxt"
stop_kymod
no_bpf_left "a session that failed"

# ---- space that is reserved for root ----

# A part of an ext4 file system is reserved for root. The service, with the capabilities of its
# unit, writes for a user with the user's rights.
need_command mkfs.ext4 losetup setpriv
user=$(id -u uucp) || skip "there is no user uucp"
chmod 755 "$TMP"
truncate -s 24M "$TMP/image"
mkfs.ext4 -q -m 25 -E lazy_itable_init=0,lazy_journal_init=0 "$TMP/image"
mkdir "$TMP/ext4"
mount -o loop "$TMP/image" "$TMP/ext4" 2>"$TMP/mount.log" || skip "cannot mount a file: $(cat "$TMP/mount.log")"
at_exit umount "$TMP/ext4"
mkdir -m 777 "$TMP/ext4/open"
read -r free available bytes < <(stat -f -c '%f %a %S' "$TMP/ext4")
reserved=$((free - available))
assert_ge $((reserved * bytes)) 4000000 "bytes that are kept for root"

capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$ROOT/units/kymod.service.in" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
# (without groups, as systemd starts it)
RUNTIME_DIRECTORY=$TMP/run setpriv --bounding-set="-all,$capabilities" --clear-groups --no-new-privs \
	"$KYMOD" --bus "$BUS" --group "$user" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"
chmod 777 "$TMP/bus"
cp "$KYMO" "$TMP/kymo"
as_user() {
	setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
}
# of_root: prints the free blocks that only root can use
of_root() {
	stat -f -c %f "$TMP/ext4"
}
expect_exit 0 as_user "$TMP/kymo" start box --mode flight --keep-size 64M -e sched -b 8M --bus "$BUS"
expect_exit 0 as_user "$TMP/kymo" start stream -o "$TMP/ext4/open/stream.fxt" -e sched -b 8M --bus "$BUS"
stream_has_failed() {
	"$KYMO" status --json "$user/stream" --bus "$BUS" >"$TMP/stream.json" && grep -q '"failed"' "$TMP/stream.json"
}
for _ in {1..20}; do
	"$KYMO_LOAD" pingpong 40000 >/dev/null
	! stream_has_failed || break
done
expect_soon 5 stream_has_failed
assert_says "$TMP/stream.json" 'No space left' "why the user's session failed"
is_good "$TMP/ext4/open/stream.fxt" 0
assert_ge "$(stat -c %s "$TMP/ext4/open/stream.fxt")" 4000000 "bytes that the user had"
assert_ge "$(of_root)" "$reserved" "blocks that are left for root, of a stream"
expect_exit 1 as_user "$TMP/kymo" snapshot box -o "$TMP/ext4/open/box.fxt" --bus "$BUS"
assert_says "$TMP/stderr" 'No space left' "the message about a snapshot"
assert_ge "$(of_root)" "$reserved" "blocks that are left for root, of a snapshot"
# Root can use them: for root, the service writes as root.
expect_recorded "$TMP/ext4/root.fxt" "$KYMO" record --bus "$BUS" -d 500ms -o "$TMP/ext4/root.fxt"
assert_le "$(of_root)" $((reserved - 1)) "blocks that are left when root has used some"
expect_exit 0 as_user "$TMP/kymo" stop box --bus "$BUS"
assert_eq "$(awk '$1 == "Uid:" { print $5 }' /proc/$KYMOD_PID/status)" 0 "the user of files that the service makes"
stop_kymod
no_bpf_left "outputs of a user"
