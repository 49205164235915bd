#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that write events of their own, recorded by the service: sessions that share programs,
# users who share nothing, quotas, a flight recorder, a collection, the lock that the service and
# `kymo record --direct` share, a program that is killed, and a service that is killed.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command setpriv
export KYMO_PROVIDER_DIR=$TMP/run
# USER or USER:GROUP of two members of the group that may record, and of a user who is none
member=65534
neighbour=4:$member
stranger=1
export KYMOD_GROUP=$member

start_bus
start_kymod
open_bus_to_all

# records_of FILE [CATEGORY]: prints how many records of app-load FILE has.
records_of() {
	"$KYMO" dump "$1" | grep -c "event ${2:-app_[a-z]*}:" || true
}

# kymo VERB WORD ... on the test's bus
ask() {
	local verb=$1

	shift
	"$KYMO" "$verb" --bus "$BUS" "$@"
}

# is_listed PID: whether `kymo providers` has process PID.
is_listed() {
	ask providers --json | holds - 'any(.[]; .pid == $pid)' --argjson pid "$1"
}

# is_recorded PID N: whether a session has written at least N records of process PID.
is_recorded() {
	ask providers --json | holds - 'any(.[]; .pid == $pid and any(.sessions[]; .written >= $n))' \
		--argjson pid "$1" --argjson n "$2"
}

# ---- a command, beside the schedule ----

expect_recorded "$TMP/whole.fxt" ask record -b 16M -e sched,app -o "$TMP/whole.fxt" -- "$APP_LOAD" 4 100
assert_eq "$(records_of "$TMP/whole.fxt")" 604 "records by the service"
expect_exit 0 "$KYMO" check "$TMP/whole.fxt"
[ ! -e "$TMP/run/providers" ] || fail "the socket is still there"

# ---- two sessions with one program ----

expect_exit 0 ask start one -b 16M -e app -o "$TMP/one.fxt"
expect_exit 0 ask start two -b 16M -e 'app:app_o*' -o "$TMP/two.fxt"
expect_exit 0 ask status two --json
assert_eq "$(json "$TMP/stdout" '.[0].options.app[0]')" 'app_o*' "patterns of categories"
expect_exit 0 ask start none -e app --comm nobody -o "$TMP/none.fxt"
"$APP_LOAD" 2 100 >"$TMP/out"
expect_recorded "$TMP/one.fxt" ask stop one
expect_recorded "$TMP/two.fxt" ask stop two
expect_exit 0 ask stop none
assert_eq "$(records_of "$TMP/one.fxt")" 302 "records of the first session"
assert_eq "$(records_of "$TMP/two.fxt")" 2 "records of the second session"
assert_eq "$(records_of "$TMP/none.fxt")" 0 "records of a session that selects nothing"

# ---- a list, which wakes programs without a session ----

"$APP_LOAD" 2 0 200 >"$TMP/out" &
load=$!
expect_soon 60 is_listed "$load"
expect_exit 0 ask providers
assert_says "$TMP/stdout" "categories: app_load, app_other"
# The socket disappears again, and the program waits.
expect_soon 60 test ! -e "$TMP/run/providers"

# ---- a flight recorder, and what the list says about it ----

expect_exit 0 ask start flight --mode flight -b 4M -e 'app:app_l*'
expect_soon 60 grep -qx written "$TMP/out"
expect_exit 0 ask providers --json
assert_eq "$(json "$TMP/stdout" "[.[] | select(.pid == $load)][0] |
	[.name, .uid, (.categories | map(\"\\(.name) \\(.on)\") | join(\",\")), .sessions[0].name] | join(\" \")")" \
	"app-load 0 app_load true,app_other false flight" "the program in the list"
expect_exit 0 ask snapshot flight -o "$TMP/flight.fxt"
assert_ge "$(records_of "$TMP/flight.fxt")" 1000 "records of a flight recorder"
expect_exit 0 ask stop flight

# ---- a program that is killed ----

expect_exit 0 ask start killed -b 16M -e app -o "$TMP/killed.fxt"
expect_soon 60 is_recorded "$load" 1000
kill -9 "$load"
wait "$load" || true
expect_recorded "$TMP/killed.fxt" ask stop killed
assert_ge "$(records_of "$TMP/killed.fxt")" 1000 "records of a killed program"

# ---- the lock ----

expect_exit 0 ask start locks -e app -o "$TMP/locks.fxt"
expect_exit 1 "$KYMO" record --direct -e app -d 1 -o "$TMP/direct.fxt"
assert_says "$TMP/stderr" "kymod (process $KYMOD_PID) has the socket $TMP/run/providers"
assert_says "$TMP/stderr" "after \`kymo providers\`, wait ten seconds"
expect_exit 0 ask stop locks
# (an earlier list has the socket for ten seconds)
expect_soon 60 test ! -e "$TMP/run/providers"
"$KYMO" record --direct -e app -o "$TMP/direct.fxt" --force >"$TMP/rec.out" 2>&1 &
recorder=$!
expect_soon 60 grep -qsx "kymo $recorder" "$TMP/run/providers.lock"
expect_exit 1 ask start locks -e app -o "$TMP/locks2.fxt"
assert_says "$TMP/stderr" "a recording with --direct (kymo, process $recorder) has the socket"
expect_exit 1 ask providers
assert_says "$TMP/stderr" "a recording with --direct (kymo, process $recorder) has the socket"
kill -INT "$recorder"
wait "$recorder" || true

# ---- users ----

cp "$KYMO" "$APP_LOAD" "$KYMO_BUILD/provider/libkymo-provider.so.0" "$TMP"
chmod 755 "$TMP/kymo" "$TMP/app-load" "$TMP/libkymo-provider.so.0" "$TMP/run"
mkdir -m 777 "$TMP/everybodys"
# as USER COMMAND ...
as() {
	local uid=${1%:*} gid=${1#*:}

	shift
	LD_LIBRARY_PATH=$TMP setpriv --reuid="$uid" --regid="$gid" --clear-groups "$@"
}

# exec_as USER COMMAND ...: for jobs, which are then the command itself
exec_as() {
	local uid=${1%:*} gid=${1#*:}

	shift
	LD_LIBRARY_PATH=$TMP exec setpriv --reuid="$uid" --regid="$gid" --clear-groups "$@"
}

# ask_as USER VERB ...: like ask
ask_as() {
	local user=$1 verb=$2

	shift 2
	as "$user" "$TMP/kymo" "$verb" --bus "$BUS" "$@"
}

expect_exit 0 ask_as "$member" start mine --own -b 4M -e app -o "$TMP/everybodys/mine.fxt"
expect_exit 0 ask_as "$neighbour" start mine --own -b 4M -e app -o "$TMP/everybodys/theirs.fxt"
expect_exit 0 ask start mine --own -b 4M -e app -o "$TMP/roots.fxt"
exec_as "$member" "$TMP/app-load" 2 100 >"$TMP/foreign" &
loads=$!
exec_as "$neighbour" "$TMP/app-load" 4 100 >"$TMP/foreign2" &
loads+=" $!"
"$APP_LOAD" 3 100 >"$TMP/out"
for load in $loads; do
	wait "$load"
done
expect_exit 0 ask_as "$member" stop mine
expect_exit 0 ask_as "$neighbour" stop mine
expect_exit 0 ask stop mine
assert_eq "$(records_of "$TMP/everybodys/mine.fxt")" 302 "records of the user's program"
assert_eq "$(records_of "$TMP/everybodys/theirs.fxt")" 604 "records of another user's program"
assert_eq "$(records_of "$TMP/roots.fxt")" 453 "records of root's program"
for file in "$TMP"/everybodys/*.fxt "$TMP/roots.fxt"; do
	assert_eq "$("$KYMO" dump "$file" | grep -c 'provider_info.*app-load')" 1 "programs in $file"
	expect_exit 0 "$KYMO" check "$file"
done

# The list of a stranger makes no socket.
expect_soon 60 test ! -e "$TMP/run/providers"
expect_exit 0 ask_as "$stranger" providers --json
assert_eq "$(json "$TMP/stdout" length)" 0 "programs that a stranger sees without a session"
[ ! -e "$TMP/run/providers" ] || fail "a stranger has made the socket"

# A stranger sees their own programs.
"$APP_LOAD" 1 2 >"$TMP/out" &
load=$!
exec_as "$stranger" "$TMP/app-load" 1 2 >"$TMP/foreign" &
foreign=$!
expect_soon 60 is_listed "$load"
expect_soon 60 is_listed "$foreign"
expect_exit 0 ask_as "$stranger" providers --json
assert_eq "$(json "$TMP/stdout" 'map(.pid) | join(" ")')" "$foreign" "programs that a stranger sees"
kill "$foreign"
wait "$foreign" || true
waiting=$load

# ---- quotas: buffers count for the user of the session ----

# buffers FIELD: prints a field of the member's usage of buffers
buffers() {
	ask_as "$member" status --json | gojq ".service.usage.buffer_bytes.$1"
}

# has_recorded SESSION N: whether SESSION records N programs
has_recorded() {
	ask providers --json | holds - '[.[] | select(any(.sessions[]; .name == $name))] | length == $n' \
		--arg name "$1" --argjson n "$2"
}

most=$(buffers user_max)
# (a power of two, as rings have)
ring=65536
n_cpus=$(($(sed 's/.*-//' /sys/devices/system/cpu/possible) + 1))
while [ $((ring * 8 * n_cpus)) -le "$most" ]; do
	ring=$((ring * 2))
done
fit=$((most / (ring * n_cpus)))
assert_ge "$fit" 2 "programs for which a user has room"
expect_exit 0 ask_as "$member" start full --uid "$member" -b $ring -e 'app:app_o*' -o "$TMP/everybodys/full.fxt"
loads=
for ((i = 0; i <= fit; i++)); do
	exec_as "$member" "$TMP/app-load" 1 2 >"$TMP/foreign" &
	loads+=" $!"
done
for load in $loads; do
	expect_soon 60 is_listed "$load"
done
expect_soon 60 has_recorded full "$fit"
assert_eq "$(buffers user)" $((fit * ring * n_cpus)) "bytes of the member's buffers"
# Others have room, and when a program has ended, there is room for the next one.
expect_exit 0 ask start others --uid 0 -b 4M -e 'app:app_o*' -o "$TMP/others.fxt"
expect_soon 60 has_recorded others 1
# recorded: prints the programs of session full
recorded() {
	ask providers --json | gojq '.[] | select(any(.sessions[]; .name == "full")) | .pid' | sort
}
recorded >"$TMP/recorded"
assert_eq "$(wc -l <"$TMP/recorded")" "$fit" "programs that are recorded"
kill "$(sed -n 1p "$TMP/recorded")"
# all_but_first: whether the session has all programs but the one that was killed
all_but_first() {
	[ "$(recorded)" = "$(tr ' ' '\n' <<<"$loads" | sed '/^$/d' | grep -vx "$(sed -n 1p "$TMP/recorded")" | sort)" ]
}
expect_soon 60 all_but_first
expect_exit 0 ask_as "$member" stop full
expect_exit 0 ask stop others
assert_eq "$(buffers user)" 0 "bytes of the member's buffers without a session"
for load in $loads; do
	kill "$load" 2>/dev/null || true
	wait "$load" || true
done
load=$waiting

# ---- a service that is killed ----

expect_exit 0 ask start doomed -e 'app:app_o*' -o "$TMP/doomed.fxt"
expect_soon 60 is_recorded "$load" 0
kill -9 "$KYMOD_PID"
wait "$KYMOD_PID" || true
kill -0 "$load" || fail "the program has ended with the service"
start_kymod
expect_exit 0 ask start again -b 4M -e app -o "$TMP/again.fxt"
wait "$load"
expect_exit 0 ask stop again
assert_eq "$(records_of "$TMP/again.fxt")" 4 "records for the next service"

# The flight recorder of a service that is killed has the events of programs.
expect_exit 0 ask start blackbox --mode flight -b 4M -e app
"$APP_LOAD" 2 0 200 >"$TMP/out" &
load=$!
expect_soon 60 is_recorded "$load" 1000
kill -9 "$KYMOD_PID"
wait "$KYMOD_PID" || true
start_kymod
expect_exit 0 ask snapshot blackbox -o "$TMP/blackbox.fxt"
assert_ge "$(records_of "$TMP/blackbox.fxt")" 1 "records of a flight recorder whose service was killed"
# (3: it lacks its end)
expect_exit 3 "$KYMO" check "$TMP/blackbox.fxt"
assert_says "$TMP/stdout" "the recording was cut off" "its end"
# (1: the session failed when its service ended)
expect_exit 1 ask stop blackbox
# The program has gone on meanwhile.
expect_exit 0 ask start next -b 4M -e app -o "$TMP/next.fxt"
expect_soon 60 is_recorded "$load" 1000
kill "$load"
wait "$load" || true
expect_recorded "$TMP/next.fxt" ask stop next
stop_kymod

# ---- a collection ----

mkdir "$TMP/etc" "$TMP/chunks"
cat >"$TMP/etc/apps.conf" <<-END
	[Collection]
	Categories=sched app:app_l*
	[Output]
	Directory=$TMP/chunks
END
RUNTIME_DIRECTORY=$TMP/run "$KYMOD" --bus "$BUS" --config-dir "$TMP/etc" --state-dir "$TMP/state" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 60 has_no_sessions
"$KYMO" collect apps --bus "$BUS" 2>"$TMP/collect.log" &
collect=$!
"$APP_LOAD" 2 0 200 >"$TMP/out" &
load=$!
expect_soon 60 is_recorded "$load" 2
kill "$load"
wait "$load" || true
terminate "$collect" "kymo collect"
stop_kymod
mapfile -t files < <(find "$TMP/chunks" -name 'apps-*.fxt*')
assert_eq ${#files[@]} 1 "chunks"
assert_ge "$(records_of "${files[0]}" app_load)" 2 "records of a collection"
assert_eq "$(records_of "${files[0]}" app_other)" 0 "records of categories that it does not have"

# ---- an idle service ----

# A program that waits, or is only listed, keeps no service alive.
"$APP_LOAD" 1 2 >"$TMP/out" &
load=$!
RUNTIME_DIRECTORY=$TMP/run "$KYMOD" --bus "$BUS" --idle-exit 5s >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 60 is_listed "$load"
wait "$KYMOD_PID"
kill "$load"
wait "$load" || true
