# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions for tests of collections like kymo-collect@.service, to be sourced after lib.sh.
# Collections are in $TMP/etc, and write their files to $TMP/out. A bus starts the service on
# demand, as often as necessary. The output of the service is in $TMP/kymod.log.

# start_service_bus: starts the bus, whose address is in $BUS. The service runs in the cgroup
# $KYMOD_CGROUP, if that is not empty.
start_service_bus() {
	mkdir "$TMP/etc" "$TMP/out" "$TMP/run" "$TMP/services"
	export RUNTIME_DIRECTORY=$TMP/run
	BUS=unix:path=$TMP/bus
	cat >"$TMP/start-kymod" <<-END
		#!/bin/sh
		echo \$\$ >"$TMP/kymod.pid"
		[ -z "${KYMOD_CGROUP:-}" ] || echo \$\$ >"${KYMOD_CGROUP:-}/cgroup.procs"
		exec "$KYMOD" --bus "$BUS" --config-dir "$TMP/etc" --state-dir "$TMP/state" >>"$TMP/kymod.log" 2>&1
	END
	chmod 755 "$TMP/start-kymod"
	cat >"$TMP/services/org.kymo.Trace1.service" <<-END
		[D-BUS Service]
		Name=org.kymo.Trace1
		Exec=$TMP/start-kymod
	END
	cat >"$TMP/bus.conf" <<-END
		<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
		 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
		<busconfig>
		  <type>session</type>
		  <listen>$BUS</listen>
		  <servicedir>$TMP/services</servicedir>
		  <policy context="default">
		    <allow user="*"/>
		    <allow own="*"/>
		    <allow send_destination="*" eavesdrop="true"/>
		    <allow eavesdrop="true"/>
		  </policy>
		</busconfig>
	END
	dbus-daemon --config-file="$TMP/bus.conf" --nofork --nopidfile >"$TMP/bus.log" 2>&1 &
	expect_soon 5 test -S "$TMP/bus"
	at_exit end_kymod KILL
}

# Only a service that this test has started, and whose pid is still its own.
end_kymod() {
	local pid

	pid=$(cat "$TMP/kymod.pid" 2>/dev/null) || return 0
	grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ" || return 0
	kill "-$1" "$pid"
	expect_soon 20 has_ended "$pid"
}

# profile NAME: writes the file of a collection from standard input.
profile() {
	cat >"$TMP/etc/$1.conf"
}

chunks() {
	find "$TMP/out" -name "$1-*.fxt*" | sort
}
n_chunks() {
	chunks "$1" | wc -l
}
has_chunks() {
	[ "$(n_chunks "$1")" -ge "$2" ]
}
no_part() {
	[ -z "$(find "$TMP/out" -name '.*.part')" ]
}
running() {
	"$KYMO" status --bus "$BUS" --json "$1" 2>/dev/null | grep '"running"' >/dev/null
}

# start_collect NAME: starts a collection. Its pid is ${COLLECT[NAME]}, its output $TMP/NAME.log.
declare -A COLLECT
start_collect() {
	"$KYMO" collect "$1" --bus "$BUS" 2>>"$TMP/$1.log" &
	COLLECT[$1]=$!
	wait_for 15 running "$1" || fail_late "$1 does not run: $(cat "$TMP/$1.log" "$TMP/kymod.log")"
}

end_collect() {
	terminate "${COLLECT[$1]}" "kymo collect $1"
}

# snapshots_of NAME WHICH: prints the number of snapshots: written, failed or passed_over.
snapshots_of() {
	"$KYMO" status "$1" --json --bus "$BUS" | gojq ".[0].snapshots.$2"
}
