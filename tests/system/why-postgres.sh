#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two of the troubles of why-servers, for PostgreSQL: its server consists of many processes, and the one
# that serves a client suffers. (tools/setup does not install it, since Debian's package starts a
# server.)

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_cpus 2
for bin in /usr/lib/postgresql/*/bin; do
	PATH=$PATH:$bin
done
need_command initdb postgres pgbench psql taskset chrt setpriv
. "$(dirname "$0")/../server-words.sh"
chrt -f 2 true 2>"$TMP/chrt" || skip "real-time priorities are not allowed here"
chmod 711 "$TMP"
SOCKET=$TMP/socket
# The server refuses to be root.
AS_USER=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir -m 700 "$SOCKET" "$TMP/data"
chown 65534:65534 "$SOCKET" "$TMP/data"
"${AS_USER[@]}" initdb -D "$TMP/data" -U tester -A trust --no-sync --wal-segsize=1 >"$TMP/initdb" 2>&1 ||
	fail "initdb: $(tail -n 3 "$TMP/initdb")"

query() {
	psql -h "$SOCKET" -U tester -XAtq -d postgres -c "$1"
}

# start_postgres DATA [COMMAND ...]: a server, started by COMMAND
start_postgres() {
	local data=$1

	shift
	"$@" "${AS_USER[@]}" postgres -D "$data" -k "$SOCKET" -c listen_addresses= -c shared_buffers=64MB \
		-c max_wal_size=32MB -c min_wal_size=2MB -c autovacuum=off -c wal_writer_delay=10s >"$TMP/postgres.log" 2>&1 &
	POSTGRES=$!
	expect_soon 30 query "SELECT 1" >"$TMP/answer" 2>&1
}

# start_clients [pgbench option ...]: one client. SERVER is the process that serves it.
start_clients() {
	pgbench -h "$SOCKET" -U tester -n -T 600 "$@" postgres >"$TMP/pgbench.log" 2>&1 &
	CLIENTS=$!
	expect_soon 20 finds_server
}

# finds_server: sets SERVER to the process that serves pgbench. (That of its first connection ends at
# once.)
finds_server() {
	SERVER=$(query "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' AND
		backend_start < clock_timestamp() - interval '500 ms'")
	[ "$SERVER" ]
}

stop_postgres() {
	[ -z "${CLIENTS:-}" ] || kill "$CLIENTS"
	[ -z "${CLIENTS:-}" ] || wait "$CLIENTS" || true
	CLIENTS=
	kill -INT "$POSTGRES"
	wait "$POSTGRES" || true
}

start_postgres "$TMP/data"
pgbench -h "$SOCKET" -U tester -i -s 4 -q postgres >"$TMP/filled" 2>&1 || fail "pgbench: $(tail -n 3 "$TMP/filled")"
stop_postgres

note "a neighbour on its CPU"
record_neighbour() {
	start_postgres "$TMP/data" taskset -c "$CPU"
	start_clients -S
	record_trouble sched,offcpu "$NEIGHBOUR"
	stop_postgres
}
judge_neighbour() {
	judge_neighbour_of "$SERVER"
}
record_and_judge "$TMP/t.fxt" record_neighbour judge_neighbour

# Each transaction waits until it is on the disk.
record_disk() {
	start_postgres "$TMP/disk/data" in_group
	start_clients -N
	record_trouble sched,offcpu,block "$SLOW_DISK"
	stop_postgres
}
judge_disk() {
	judge_slow_disk "$SERVER"
}
if make_disk && cp -a "$TMP/data" "$TMP/disk/data"; then
	note "a slow disk"
	record_and_judge "$TMP/t.fxt" record_disk judge_disk
else
	note "not tested: a slow disk (needs loop devices with direct I/O, and control groups that limit them)"
fi
