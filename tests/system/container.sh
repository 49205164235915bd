#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The package on a Debian 12 with a real systemd, system bus and polkit: it is installed, records
# for authorised users, ends when idle, is restarted when it hangs, and purging leaves nothing of
# it.

. "$(dirname "$0")/../support/container-words.sh"
container_private "$@"
. "$(dirname "$0")/../lib.sh"
container_need
need_command dpkg-buildpackage dh xmllint

# ---- the package, of the programs that the other tests run ----

# (xz would need a third of the CPU time of the build.)
build_package() {
	mkdir "$TMP/package" "$TMP/package/kymo"
	(cd "$ROOT" && git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$TMP/package/kymo")
	(cd "$TMP/package/kymo" && KYMO_BUILD=$KYMO_BUILD DEB_BUILD_OPTIONS=noautodbgsym \
		DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 \
		dpkg-buildpackage -b -us -uc -d) >"$TMP/package.log" 2>&1 || {
		tail -n 30 "$TMP/package.log" >&2
		fail "the package does not build"
	}
	PACKAGE=$(echo "$TMP"/package/kymo_*.deb)
	! command -v lintian >/dev/null || lintian --allow-root --fail-on error "$TMP"/package/*.deb >"$TMP/lintian.log" 2>&1 || {
		cat "$TMP/lintian.log" >&2
		fail "lintian finds errors in the packages"
	}
}

# The package for Python has the modules, and depends on both libraries.
check_python_package() {
	local package file name

	package=$(echo "$TMP"/package/python3-kymo_*_all.deb)
	dpkg-deb -c "$package" >"$TMP/python.files"
	for file in __init__ _archive _library _points _provider; do
		assert_says "$TMP/python.files" " ./usr/lib/python3/dist-packages/kymo/$file.py"
	done
	assert_says "$TMP/python.files" " ./usr/share/man/man3/kymo-python.3.gz"
	dpkg-deb -f "$package" Depends >"$TMP/python.depends"
	for name in 'libkymo0 ' 'libkymo-provider0 ' 'python3 '; do
		assert_says "$TMP/python.depends" "$name"
	done
}

# Dependencies with one name.
depends() {
	dpkg-deb -f "$1" Depends | tr ',' '\n' | sed 's/([^)]*)//; s/ //g; /|/d'
}

# option NAME: prints the value of this build option
option() {
	meson introspect "$KYMO_BUILD" --buildoptions | gojq -r --arg name "$1" '.[] | select(.name == $name).value'
}

prefix=$(option prefix)
[ "$prefix" = /usr ] || fail "a package is of what is built for /usr, this is for $prefix: meson configure -Dprefix=/usr $KYMO_BUILD"
build_package
check_python_package
# The installed binaries are hardened, except with sanitizers.
if [ "$(option b_sanitize)" = none ]; then
	fortified=fortified
	[ "$(option optimization)" != 0 ] || fortified=plain
	dpkg-deb -x "$PACKAGE" "$TMP/unpacked"
	mapfile -t programs < <(find "$TMP/unpacked" -type f \( -name kymo -o -name kymod \) -perm -u+x)
	assert_eq ${#programs[@]} 2 "programs in the package"
	bash "$ROOT/tests/style/hardening.sh" $fortified "${programs[@]}"
fi
mapfile -t packages < <(depends "$PACKAGE")
assert_ge ${#packages[@]} 5 "packages that ours depends on"
SECONDS=0
container_make "${packages[@]}" libglib2.0-bin
note "debootstrap: $SECONDS s"
container_boot
note "booted after $SECONDS s"

# ---- words ----

# unit PROPERTY [UNIT]
unit() {
	container systemctl show -P "$1" "${2:-kymod.service}"
}

is_unit() {
	[ "$(unit "$1")" = "$2" ]
}

# expect_in SECONDS COMMAND ...: like expect_soon, but prints the journal if it fails
expect_in() {
	wait_for "$@" || {
		container journalctl -q --no-pager -n 40 >&2
		fail "not within $1 s: ${*:2}"
	}
}

# begin VERB ... UNIT: runs systemctl, and prints the journal if it fails
begin() {
	container systemctl -q "$@" 2>/dev/null || {
		container journalctl -q --no-pager -n 30 -u "${*: -1}" -u kymod.service >&2
		fail "systemctl $* failed"
	}
}

# Installs standard input as a drop-in of kymod.service.
drop_in() {
	mkdir -p "$CONTAINER/etc/systemd/system/kymod.service.d"
	cat >"$CONTAINER/etc/systemd/system/kymod.service.d/$1.conf"
	container systemctl daemon-reload
}

no_drop_in() {
	rm -r "$CONTAINER/etc/systemd/system/kymod.service.d"
	container systemctl daemon-reload
}

# All files that could be missing or left over, but not the group.
list_files() {
	(cd "$CONTAINER" && find . -xdev \( -path ./var/cache -o -path ./var/log -o -path ./var/lib/dpkg \
		-o -path ./var/lib/systemd -o -path ./run -o -path ./srv -o -name 'systemd-private-*' -o -path ./proc -o -path ./dev \) -prune -o -print | sort)
	container find /run/kymo /run/systemd/system /etc/systemd/system -name '*kymo*' 2>/dev/null || true
}

# check_archive FILE [SWITCHES]: checks that FILE in the container is complete and has at least 10
# switches
check_archive() {
	expect_checked "$CONTAINER/$1"
	summarize "$CONTAINER/$1"
	assert_ge "$(json "$SUMMARY" .events.switch)" "${2:-10}" "switches in $1"
}

# ---- it installs ----

container groupadd --system --force kymo
container groupdel kymo
container useradd -m bob
list_files >"$TMP/files.before"
cp "$PACKAGE" "$CONTAINER/srv/kymo.deb"
container dpkg -i /srv/kymo.deb >"$TMP/dpkg.log" 2>&1 || {
	cat "$TMP/dpkg.log" >&2
	fail "the package does not install"
}
container getent group kymo >/dev/null || fail "there is no group kymo"
container useradd -m -G kymo alice
for user in alice bob; do
	container install -d -o $user -g $user "/srv/$user"
done
for unit in kymod.service kymod.socket kymo-perf.service kymo-perf.socket kymo-collect@x.service kymo-snapshot@x.service; do
	expect_exit 0 container systemd-analyze verify --man=no "$unit"
	assert_empty "$TMP/stderr" "complaints about $unit"
done
expect_exit 0 container systemd-analyze security --threshold=25 --no-pager kymod.service
is_unit ActiveState inactive || fail "the service runs though nobody has asked for it"

# ---- access rights ----

expect_recorded "$CONTAINER/srv/root.fxt" container kymo record -d 500ms -o /srv/root.fxt
check_archive srv/root.fxt
is_unit ActiveState active || fail "the bus did not start the unit"
expect_in 5 is_unit StatusText "No sessions"
expect_recorded "$CONTAINER/srv/alice/t.fxt" container_as alice kymo record -d 500ms -o /srv/alice/t.fxt
check_archive srv/alice/t.fxt
assert_eq "$(stat -c %U:%a "$CONTAINER/srv/alice/t.fxt" | sed 's/^[^:]*//')" :600 "mode of her archive"
expect_exit 1 container_as bob kymo record -d 500ms -o /srv/bob/t.fxt
assert_contains "$TMP/stderr" 'user bob is not allowed to trace the system .*--own' "the message to bob"
[ ! -e "$CONTAINER/srv/bob/t.fxt" ] || fail "bob has an archive"
# Own processes are allowed: there are switches of bob's sleep, and of no other process.
container systemd-run -q -p User=bob sleep 60
expect_recorded "$CONTAINER/srv/bob/t.fxt" container_as bob kymo record --own -d 1s -o /srv/bob/t.fxt
expect_exit 0 "$KYMO" check "$CONTAINER/srv/bob/t.fxt"
note "recorded for root, alice and bob after $SECONDS s"

# ---- a program of bob's with events of its own, from before the recording ----

cp "$APP_LOAD" "$KYMO_BUILD/provider/libkymo-provider.so.0" "$CONTAINER/srv"
chmod 755 "$CONTAINER/srv/app-load" "$CONTAINER/srv/libkymo-provider.so.0"
# (In a container, threads that end before their first event is read are not known.)
container systemd-run -q --unit=early -p User=bob -E LD_LIBRARY_PATH=/srv /srv/app-load 1 100
expect_exit 0 container_as alice kymo start apps -e app -o /srv/alice/apps.fxt
has_left() {
	[ "$(unit ActiveState early.service)" = inactive ]
}
expect_in 30 has_left
expect_recorded "$CONTAINER/srv/alice/apps.fxt" container_as alice kymo stop apps
assert_eq "$("$KYMO" dump "$CONTAINER/srv/alice/apps.fxt" | grep -c 'event app_[a-z]*:')" 151 "records of his program"

# ---- the README's section on the service, as it stands there ----

container gpasswd -d alice kymo >"$TMP/gpasswd.log"
mkdir "$CONTAINER/srv/tree" "$CONTAINER/srv/stubs"
(cd "$ROOT" && cp -a --parents examples/*.conf "$CONTAINER/srv/tree")
printf '#!/bin/sh\nexec sleep 0.2\n' >"$CONTAINER/srv/stubs/make"
# The other machine is this one.
printf '#!/bin/sh\nwhile [ "$1" != root@server ]; do shift; done\nshift\nexec sh -c "$*"\n' >"$CONTAINER/srv/stubs/ssh"
chmod 755 "$CONTAINER"/srv/stubs/*
rm "$CONTAINER/srv/alice/t.fxt"

# by_readme COMMAND: as the user for whom the README is written
by_readme() {
	local command=$1

	case $command in
	"kymo monitor "*) command="timeout 1 $command || [ \$? = 124 ]" ;; # goes on
	esac
	# (In a container, filters by cgroup do not match.)
	command="PATH=/srv/stubs:\$PATH; $(sed 's/ -d 5 / -d 1 /; s/ --unit nginx//' <<<"$command")"
	case $1 in
	*" --own "*) container_as bob bash -c "cd /srv/bob && $command" ;;
	"kymo -H "*) container bash -c "cd /srv && $command" ;;
	kymo" "[^v]*) container_as alice bash -c "cd /srv/alice && $command" ;;
	*) container bash -c "cd /srv/tree && $command" ;;
	esac
}

# (The containers of -M would have to be registered with a systemd-machined of this machine.)
sed -n '/^## Use it as a service/,/^## Where/s/^    \([^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$ROOT/README.md" |
	grep -v ' -M CONTAINER ' >"$TMP/commands"
assert_ge "$(wc -l <"$TMP/commands")" 15 "commands of the README"
while read -r command; do
	expect_recorded - by_readme "$command" </dev/null
done <"$TMP/commands"
for file in alice/t alice/web alice/box server; do
	check_archive "srv/$file.fxt"
done
# (One of his own processes sleeps. The number of its other waits depends on the machine.)
check_archive srv/bob/mine.fxt 2
expect_exit 0 "$KYMO" dump "$CONTAINER/srv/alice/web.fxt"
assert_contains "$TMP/stdout" 'mark .*deployed' "her mark"
# Its first chunk must last longer than this test.
begin disable --now kymo-collect@machine.service
assert_ge "$(find "$CONTAINER/var/lib/kymo/machine" -name 'machine-*' | wc -l)" 1 "chunks of the machine"
rm -r "$CONTAINER/etc/kymo/machine.conf" "$CONTAINER/var/lib/kymo/machine"
# (it records the whole machine: a ring can have overflowed)
expect_recorded - container_as alice kymo stop box
note "did what the README says after $SECONDS s"

# ---- password dialogues ----

echo 'root:the right one' | container chpasswd
# answer PASSWORD COMMAND ...: runs COMMAND on a terminal and types PASSWORD. The exit status is in
# $status, and the terminal's output in $TMP/seen.
answer() {
	local password=$1 fd pid

	shift
	rm -f "$TMP/keys"
	mkfifo "$TMP/keys"
	container script -qec "$*" /dev/null <"$TMP/keys" >"$TMP/terminal" &
	pid=$!
	exec {fd}>"$TMP/keys"
	expect_in 20 grep -q '^Password: ' "$TMP/terminal"
	echo "$password" >&"$fd"
	status=0
	wait $pid || status=$?
	exec {fd}>&-
	tr -d '\r' <"$TMP/terminal" >"$TMP/seen"
	assert_contains "$TMP/seen" 'Authentication is required to trace the kernel and the processes of all users\.$' "the question to bob"
}
# Outside a login session, and in one.
answer 'a wrong one' setpriv --reuid=bob --regid=bob --init-groups kymo record -d 300ms -o /srv/bob/asked.fxt
assert_eq "$status" 1 "exit status after a wrong password"
assert_says "$TMP/seen" 'user bob is not allowed to trace the system (polkit has denied it): ' "the message to bob"
[ ! -e "$CONTAINER/srv/bob/asked.fxt" ] || fail "bob has an archive without a password"
answer 'the right one' su -l bob "--session-command='kymo record -d 300ms -o /srv/bob/asked.fxt'"
case $status in 0 | 3) ;; *) fail "bob knows the password, and may not: $(cat "$TMP/seen")" ;; esac
check_archive srv/bob/asked.fxt
note "asked bob for a password after $SECONDS s"

# ---- status and journal ----

container_as alice kymo start one -o /srv/alice/one.fxt
expect_in 5 is_unit StatusText "1 session: one of uid $(container id -u alice); nothing lost"
assert_eq "$(unit StatusText | wc -l)" 1 "lines of the status"
container journalctl -q --no-pager -o json KYMO_SESSION=one >"$TMP/journal"
assert_eq "$(json "$TMP/journal" '[.MESSAGE_ID, .KYMO_OWNER, ._SYSTEMD_UNIT] | @tsv')" \
	"ce555bdc427047b49c55d2639edab1be	$(container id -u alice)	kymod.service" "the line about its start"
expect_exit 0 container busctl call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager ListSessions
assert_contains "$TMP/stdout" '"one" "/org/kymo/Trace1/session/[0-9]+/one" "running"' "busctl"
expect_exit 0 container busctl introspect org.kymo.Trace1 /org/kymo/Trace1
assert_contains "$TMP/stdout" 'CreateSession +method' "busctl introspect"
expect_exit 0 container busctl get-property org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager Version
at_manager=(--system --dest org.kymo.Trace1 --object-path /org/kymo/Trace1)
expect_exit 0 container gdbus introspect "${at_manager[@]}" --xml
xmllint --noout "$TMP/stdout" || fail "the introspection of the manager is not XML"
expect_exit 0 container gdbus introspect "${at_manager[@]}"
assert_contains "$TMP/stdout" '^ +CreateSession\(in  s name,$' "gdbus introspect"
assert_contains "$TMP/stdout" "^ +readonly s Version = '" "a property in gdbus introspect"
expect_exit 0 container_as alice gdbus call "${at_manager[@]}" --method org.kymo.Trace1.Manager.ListSessions
assert_contains "$TMP/stdout" "'one', objectpath '/org/kymo/Trace1/session/[0-9]+/one', 'running'" "gdbus call"
expect_exit 0 container gdbus call "${at_manager[@]}" --method org.freedesktop.DBus.Properties.Get org.kymo.Trace1.Manager Version
assert_contains "$TMP/stdout" "^\(<'[0-9.]+'>,\)$" "a property by gdbus"
expect_exit 1 container_as bob gdbus call "${at_manager[@]}" --method org.kymo.Trace1.Manager.CreateSession x '{}'
assert_says "$TMP/stderr" 'user bob is not allowed to trace the system' "the message of gdbus to bob"

expect_exit 0 container systemctl reload kymod.service
is_unit ActiveState active || fail "a reload ended the service"
expect_exit 1 container_as alice busctl call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager Reload
assert_says "$TMP/stderr" 'only root is allowed to do this' "a reload by alice"

# ---- stop completes, and so does an upgrade ----

container systemctl stop kymod.service
check_archive srv/alice/one.fxt
dump_records "$CONTAINER/srv/alice/one.fxt"
assert_eq "$(events session_stop | gojq -r .args.reason)" "service stopped" "why it ended"
is_unit Result success || fail "the service failed: $(unit Result)"
container_as alice kymo start two -o /srv/alice/two.fxt
pid=$(unit MainPID)
container dpkg -i /srv/kymo.deb >"$TMP/dpkg.log" 2>&1 || fail "the package does not upgrade: $(cat "$TMP/dpkg.log")"
check_archive srv/alice/two.fxt
is_unit ActiveState active || fail "the service is not there after an upgrade"
[ "$(unit MainPID)" != "$pid" ] || fail "the service of before the upgrade goes on"

# ---- the service exits when idle, and no call is lost ----

container systemctl stop kymod.service
# The test starts it very often, so systemd's limit on starts is disabled.
drop_in idle <<-END
	[Unit]
	StartLimitIntervalSec=0
	[Service]
	ExecStart=
	ExecStart=/usr/sbin/kymod --idle-exit 100ms
END
began=$(unit ExecMainStartTimestampMonotonic)
container_as alice kymo list
[ "$(unit ExecMainStartTimestampMonotonic)" != "$began" ] || fail "a call has not started the service"
expect_in 10 is_unit ActiveState inactive
is_unit Result success || fail "the service failed: $(unit Result)"
cat >"$CONTAINER/srv/storm.sh" <<-'END'
	for i in $(seq 40); do
		busctl --timeout=20 call org.kymo.Trace1 /org/kymo/Trace1 org.kymo.Trace1.Manager ListSessions >/dev/null || exit 1
		sleep 0.$(printf %03d $((90 + i % 20 * 2)))
	done
END
expect_exit 0 container bash /srv/storm.sh
note "left when idle, after $SECONDS s"

# ---- the service hangs, and is restarted ----

expect_in 10 is_unit ActiveState inactive
no_drop_in
drop_in watchdog <<-END
	[Service]
	WatchdogSec=1s
END
container_as alice kymo start stuck -o /srv/alice/stuck.fxt
pid=$(unit MainPID)
sleep 1
container bash -c "kill -STOP $pid"
is_replaced() {
	[ "$(unit MainPID)" != "$pid" ] && is_unit ActiveState active
}
expect_in 30 is_replaced
assert_eq "$(unit NRestarts)" 1 "restarts"
container journalctl -q --no-pager -u kymod.service >"$TMP/journal"
assert_says "$TMP/journal" 'Watchdog timeout' "the journal"
check_archive srv/alice/stuck.fxt
expect_recorded "$CONTAINER/srv/again.fxt" container kymo record -d 300ms -o /srv/again.fxt
no_drop_in
note "replaced after it hung, after $SECONDS s"

# ---- a collection: it records, rotates, applies its retention, and survives a kill of the service
# ----

cat >"$CONTAINER/etc/kymo/machine.conf" <<-END
	[Collection]
	Categories=sched
	[Output]
	RotateTime=1s
	KeepTime=4s
	[Export]
	Format=parquet
	To=/srv/fleet
END
expect_exit 0 container kymo verify-profile machine
begin enable --now kymo-collect@machine.service
chunks() {
	find "$CONTAINER/var/lib/kymo/machine" -name 'machine-*.fxt' | sort
}
has_chunks() {
	[ "$(chunks | wc -l)" -ge "$1" ]
}
has_newer_than() {
	[ "$(chunks | tail -n 1)" != "$1" ]
}
has_retired() {
	[ ! -e "$1" ]
}
expect_in 30 has_chunks 2
# (a copy, because the chunk can be removed during the check)
first=$(chunks | sed -n 1p)
cp "$first" "$CONTAINER/srv/chunk.fxt"
check_archive srv/chunk.fxt
expect_in 30 has_retired "$first"
expect_in 10 has_chunks 2
container systemctl is-active --quiet kymo-collect@machine.service || fail "the unit of the collection is not active"
note "collected, rotated and retired after $SECONDS s"

# ---- its chunks are handed over, by a unit of its own, which can write to the target only ----

container install -d -o kymo-ship /srv/fleet
begin start kymo-ship@machine.service
is_refused() {
	container kymo status machine >"$TMP/status" && grep -F "To=/srv/fleet is read-only" "$TMP/status" >/dev/null
}
expect_in 30 is_refused
container systemctl stop kymo-ship@machine.service
mkdir "$CONTAINER/etc/systemd/system/kymo-ship@machine.service.d"
printf '[Service]\nReadWritePaths=/srv/fleet\n' \
	>"$CONTAINER/etc/systemd/system/kymo-ship@machine.service.d/target.conf"
container systemctl daemon-reload
begin start kymo-ship@machine.service
has_tables() {
	[ "$(find "$CONTAINER/srv/fleet" -path '*/part=machine-*' -name slices.parquet | wc -l)" -ge 2 ]
}
expect_in 60 has_tables
assert_empty <(find "$CONTAINER/srv/fleet" -path '*/part=*' -uid 0) "tables that root has written"
begin stop kymo-ship@machine.service
container systemctl is-failed --quiet kymo-ship@machine.service && fail "the unit that exports has failed"
note "exported its chunks after $SECONDS s"

# ---- a flight recorder: a unit fails, and its last actions are written to disk ----

cat >"$CONTAINER/etc/kymo/blackbox.conf" <<-END
	[Collection]
	Categories=sched
	Mode=flight
	[Flight]
	Keep=5s
END
cp "$CONTAINER/bin/bash" "$CONTAINER/srv/crumbling"
cat >"$CONTAINER/etc/systemd/system/crumbles.service" <<-'END'
	[Unit]
	OnFailure=kymo-snapshot@%n.service
	[Service]
	Type=oneshot
	ExecStart=/srv/crumbling -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.1; done; exit 7'
END
container systemctl daemon-reload
begin start kymo-collect@blackbox.service
expect_exit 1 container systemctl start crumbles.service
snapshots() {
	find "$CONTAINER/var/lib/kymo/blackbox" -name 'blackbox-*.fxt' | sort
}
has_snapshots() {
	[ "$(snapshots | wc -l)" -ge "$1" ]
}
expect_in 30 has_snapshots 1
dump_records "$(snapshots | sed -n 1p)"
container journalctl -q --no-pager KYMO_SESSION=blackbox >"$TMP/journal"
assert_contains "$TMP/journal" 'writes a snapshot to .*: crumbles\.service failed' "why it was taken"
# Its exec identifies the shell. The shell waited for twelve children, most of them in its last
# second.
tid=$(events exec | gojq -r 'select(.args | tostring | test("crumbling")) | .thread_id' | tail -n 1)
exit_ns=$(switches | awk -v tid="$tid" '$3 == tid { last = $1 } END { print last }')
assert_ge "$(switches | awk -v tid="$tid" -v from="$((exit_ns - 1000000000))" '$3 == tid && $1 >= from && !$6' | wc -l)" 4 \
	"switches of the failing unit in its last second"
note "a failing unit was caught after $SECONDS s"

# ---- the service is killed: collections restart, and the flight recorder's data is not lost ----

pid=$(unit MainPID)
newest=$(chunks | tail -n 1)
container bash -c "kill -KILL $pid"
expect_in 30 is_replaced
expect_in 30 has_newer_than "$newest"
expect_in 60 has_snapshots 2
for unit in kymo-collect@machine.service kymo-collect@blackbox.service; do
	container systemctl is-active --quiet $unit || fail "$unit does not run after the service was killed"
done
snapshot=$(snapshots | tail -n 1)
check_archive "${snapshot#"$CONTAINER/"}"
expect_exit 0 container kymo list
assert_contains "$TMP/stdout" '^machine +running ' "the collection after that"
note "back after kill -9, after $SECONDS s"

# ---- purging leaves nothing ----

rm -r "$CONTAINER/etc/systemd/system"/{crumbles.service,kymo-ship@machine.service.d}
container dpkg --purge kymo >"$TMP/dpkg.log" 2>&1 || fail "the package cannot be purged: $(cat "$TMP/dpkg.log")"
container userdel -r alice 2>/dev/null
list_files >"$TMP/files.after"
diff -u "$TMP/files.before" "$TMP/files.after" || fail "purging leaves something"
container getent group kymo >/dev/null || fail "purging takes the group"
assert_eq "$(unit MainPID)" 0 "the service after that"
is_unit LoadState not-found || fail "systemd still knows the service"
note "purged after $SECONDS s"
