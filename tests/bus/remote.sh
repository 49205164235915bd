#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --host and --machine: a service on another machine. `ssh` is a script that uses a service on a
# private bus; the container is a process in a mount namespace with that bus as its system bus.

. "$(dirname "$0")/../lib.sh"
need_root
need_bus
need_command systemd-stdio-bridge unshare

start_bus
start_kymod

# The other machine: its system bus is the private one, and kymo is in its path.
mkdir "$TMP/here" "$TMP/there"
ln -s "$KYMO" "$TMP/there/kymo"
cat >"$TMP/here/ssh" <<-END
	#!/bin/sh
	echo "\$*" >>"$TMP/ssh.log"
	while [ "\$1" != -- ]; do shift; done
	shift
	[ "\$1" = me@other ] || { echo "ssh: no such host: \$1" >&2; exit 255; }
	shift
	[ "\$*" != systemd-stdio-bridge ] || exec systemd-stdio-bridge --bus-path="$BUS"
	DBUS_SYSTEM_BUS_ADDRESS=$BUS PATH=$TMP/there:\$PATH exec sh -c "\$*"
END
chmod +x "$TMP/here/ssh"
PATH=$TMP/here:$PATH
# On any other bus, there is no service.
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$TMP/nobus

note "verbs that use the bus of the host"
expect_exit 0 "$KYMO" start one -o "$TMP/one.fxt" -e sched --bus "$BUS"
for place in "-H me@other" "-Hme@other" "--host me@other" --host=me@other; do
	# shellcheck disable=SC2086 # two words
	expect_exit 0 "$KYMO" list $place
	assert_contains "$TMP/stdout" '^one +running' "list $place"
	# shellcheck disable=SC2086
	expect_exit 0 "$KYMO" $place list
	assert_contains "$TMP/stdout" '^one +running' "$place list"
done
expect_exit 0 "$KYMO" status one --json -H me@other
assert_eq "$(json "$TMP/stdout" '.[0].state')" running "state"
expect_exit 0 "$KYMO" mark one "from afar" -H me@other
expect_exit 0 "$KYMO" capabilities -H me@other
expect_recorded "$TMP/one.fxt" "$KYMO" stop one -H me@other
grep -qa 'from afar' "$TMP/one.fxt" || fail "the mark is not in the archive"

note "an archive from there"
cd "$TMP" || exit
# (no thread has that name, so nothing is recorded)
expect_exit 3 "$KYMO" record -H me@other -d 300ms -e sched --comm 'a "b' -o far.fxt
assert_says stderr "no event of category sched: no selected thread ran" "an empty recording"
assert_contains stderr '^far\.fxt: from me@other' "the message at the end"
expect_exit 0 "$KYMO" check far.fxt
expect_exit 0 "$KYMO" summary --json far.fxt
assert_contains stdout '"filtered": *true' "filter of a name with quotes"
expect_exit 1 "$KYMO" record -H me@other -d 300ms -e sched -o far.fxt
assert_says stderr 'exists' "an existing file"
mkdir cwd
(cd cwd && "$KYMO" record --host=me@other -d 300ms --compress 2>/dev/null)
assert_eq "$(find cwd -name 'kymo-*.fxt.zst' | wc -l)" 1 "archives of the default name"
"$KYMO" -H me@other record -d 300ms -e sched -o - >piped.fxt 2>/dev/null
expect_exit 0 "$KYMO" check piped.fxt

note "a failure there, after the first bytes"
sed -i 's/^shift$/&\n[ ! -e fails ] || { echo part; exit 1; }/' "$TMP/here/ssh"
touch fails
cp far.fxt before.fxt
expect_exit 1 "$KYMO" record -H me@other -d 300ms -e sched --force -o far.fxt
cmp far.fxt before.fxt || fail "a fragment has replaced an archive"
part=$(grep -o '\.kymo-[0-9]*-0$' stderr)
assert_eq "$(cat "$part")" part "the fragment"
rm fails "$part"

note "Ctrl-C ends it there, and all of it comes"
"$KYMO" record -H me@other -e sched -o long.fxt 2>long.err &
pid=$!
expect_soon 20 test -s long.fxt
kill -INT $pid
expect_recorded long.fxt finished $pid long.err
expect_exit 0 "$KYMO" check --json long.fxt
assert_eq "$(json stdout .cut_off)" false "cut off"
expect_soon 10 has_no_sessions

note "a broken connection also ends a recording"
"$KYMO" record -H me@other -e sched -o broken.fxt 2>broken.err &
pid=$!
expect_soon 20 test -s broken.fxt
kill -KILL $pid
wait $pid 2>/dev/null || true
expect_soon 20 has_no_sessions

note "top, over there"
expect_recorded - timeout "$(limit 60)" "$KYMO" top -H me@other -n 1 -i 200ms --json
assert_eq "$(wc -l <stdout)" 1 "lines"

note "unsupported options"
refused() {
	local text=$1

	shift
	expect_exit 2 "$KYMO" "$@"
	assert_says stderr "$text" "complaint about $*"
}
refused 'COMMAND would run on this machine' record -H me@other -o x.fxt -- true
refused 'cannot be combined' record -H me@other -o x.fxt --json
refused 'would be a file on me@other' start two -o x.fxt -H me@other
refused '--host is not possible with this verb' summary far.fxt -H me@other
refused 'kymo record -e memory' leaks -H me@other -p 1
refused 'cannot be combined' list -H me@other -M box
refused 'cannot be combined' list -H me@other --bus "$BUS"
refused 'needs a value' list -H
refused 'is not a valid name' list -H -oProxyCommand=x
refused 'is not a valid name' list --host=
refused 'is looked up on this machine' record -M box -o x.fxt --unit a.service
refused 'is looked up on this machine' record -M box -o x.fxt -p 1
refused '--direct and --machine cannot be combined' record -M box -o x.fxt --direct
expect_exit 1 "$KYMO" list -H nowhere
assert_says stderr 'system bus of nowhere' "complaint about a host"
expect_exit 1 "$KYMO" record -H nowhere -o nothing.fxt
assert_says stderr 'cannot reach nowhere' "complaint about a host"
[ ! -e nothing.fxt ] || fail "an empty file is left"
expect_exit 1 "$KYMO" list -M nosuchmachine
assert_says stderr 'system bus of nosuchmachine' "complaint about a machine"

note "a container"
machine=kymo-test-$$
# systemd-machined's file with the leader of a container
if ! mkdir -p /run/systemd/machines 2>/dev/null || ! unshare -m true 2>/dev/null; then
	note "not tested: no namespaces"
	exit 0
fi
cat >"$TMP/container.sh" <<-END
	mount --make-rprivate / && mkdir -p /run/dbus && mount -t tmpfs none /run/dbus &&
		touch /run/dbus/system_bus_socket && mount --bind "$TMP/bus" /run/dbus/system_bus_socket &&
		echo ready >"$TMP/ready" && exec sleep 1000
END
unshare -m bash "$TMP/container.sh" &
leader=$!
expect_soon 10 test -s "$TMP/ready"
at_exit rm -f "/run/systemd/machines/$machine"
printf 'NAME=%s\nCLASS=container\nLEADER=%s\n' "$machine" "$leader" >"/run/systemd/machines/$machine"
unset DBUS_SYSTEM_BUS_ADDRESS
expect_exit 0 "$KYMO" list -M "$machine"
expect_recorded box.fxt "$KYMO" record -M "$machine" -d 300ms -e sched -o box.fxt
expect_exit 0 "$KYMO" check box.fxt
expect_exit 0 "$KYMO" start boxed -M "$machine" -e sched -o boxed.fxt
expect_exit 0 "$KYMO" --machine="$machine" status boxed
expect_exit 0 "$KYMO" --machine "$machine" stop boxed
expect_exit 0 "$KYMO" check boxed.fxt
stop_kymod
