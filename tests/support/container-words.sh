# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A Debian with its own systemd, bus and polkit, for tests of the installed service. To be sourced
# after lib.sh:
#
#	container_private "$@"      before lib.sh: gives this test a mount namespace
#	container_need              skips the test if the container cannot be made
#	container_make PACKAGE ...  debootstrap, into memory; its root is $CONTAINER
#	container_boot              systemd-nspawn; returns when the start is complete
#	container COMMAND ...       in it, as root; in the background use systemd-run
#	container_as USER COMMAND ...
#
# Pids in it differ from those in the kernel's records, so filters by pid and the names of earlier
# processes do not work in it. systemd is never booted on the root of the machine, since it would
# clean up there.

KYMO_DEBIAN_MIRROR=${KYMO_DEBIAN_MIRROR:-http://deb.debian.org/debian}

container_private() {
	[ "${KYMO_PRIVATE_MOUNTS:-}" ] || [ "$(id -u)" != 0 ] || ! command -v unshare >/dev/null ||
		KYMO_PRIVATE_MOUNTS=1 exec unshare --mount --propagation private "$BASH" "$0" "$@"
}

container_need() {
	need_btf
	need_cgroup2
	need_command debootstrap systemd-nspawn nsenter unshare curl
	curl -sfI --max-time 20 "$KYMO_DEBIAN_MIRROR/dists/bookworm/InRelease" >/dev/null ||
		skip "no Debian to install: $KYMO_DEBIAN_MIRROR does not answer"
}

# container_make PACKAGE ...: makes the smallest system that boots, with the PACKAGES. It is in a
# tmpfs, where nothing waits for a disk, and dpkg's fsync costs nothing. The system is kept for a
# week, in a file in KYMO_CONTAINER_CACHE (~/.cache/kymo), since debootstrap takes longer than the
# test.
container_make() {
	local packages=systemd,systemd-sysv,dbus,libpam-systemd,polkitd package kept
	local cache=${KYMO_CONTAINER_CACHE:-${HOME:-/root}/.cache/kymo}

	for package; do
		packages+=,$package
	done
	CONTAINER=$TMP/container
	mkdir "$CONTAINER"
	mount -t tmpfs -o mode=755,size=2g kymo-container "$CONTAINER"
	at_exit umount -l "$CONTAINER"
	kept=$cache/container-$(cksum <<<"$packages" | cut -d ' ' -f 1).tar
	if [ "$(find "$kept" -mtime -7 2>/dev/null)" ]; then
		tar -C "$CONTAINER" -xf "$kept"
	else
		debootstrap --variant=minbase --include="$packages" bookworm "$CONTAINER" \
			"$KYMO_DEBIAN_MIRROR" >"$TMP/debootstrap.log" 2>&1 || {
			tail -n 20 "$TMP/debootstrap.log" >&2
			fail "debootstrap failed"
		}
		mkdir -p "$cache"
		tar -C "$CONTAINER" -cf "$kept.$$" . && mv "$kept.$$" "$kept"
	fi
	# The test must find its messages without waiting for a disk, too.
	mkdir -p "$CONTAINER/etc/systemd/journald.conf.d"
	printf '[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n' \
		>"$CONTAINER/etc/systemd/journald.conf.d/test.conf"
	# No timer may start a service in the middle of the test, such as backups at midnight.
	ln -sf /dev/null "$CONTAINER/etc/systemd/system/timers.target"
}

container_cgroups() {
	awk '$3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /name=systemd/) { print $2 }' /proc/mounts
}

remove_container_cgroups() {
	local mount

	# Killed processes remain in the cgroups a moment longer.
	container_cgroups | while read -r mount; do
		for _ in {1..60}; do
			find "$mount/kymo-test-$$" -depth -type d -exec rmdir {} \; 2>/dev/null
			[ -d "$mount/kymo-test-$$" ] || break
			sleep 0.05
		done
	done
}

# run_nspawn PID COMMAND ...: runs COMMAND as process PID, in a cgroup of this test. systemd makes
# its groups below the one that it is started in.
run_nspawn() {
	local mount

	container_cgroups | while read -r mount; do
		mkdir "$mount/kymo-test-$$"
		echo "$1" >"$mount/kymo-test-$$/cgroup.procs"
	done
	shift
	exec "$@"
}

container_boot() {
	at_exit remove_container_cgroups
	(
		run_nspawn "$BASHPID" env SYSTEMD_SECCOMP=0 SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 \
			systemd-nspawn -q -b -D "$CONTAINER" --machine="kymo-test-$$" --capability=all \
			--private-network --register=no --keep-unit --console=pipe
	) </dev/null >"$TMP/container.log" 2>&1 &
	CONTAINER_NSPAWN=$!
	expect_soon 20 container_leads
	at_exit eval "kill -KILL $CONTAINER_LEADER 2>/dev/null"
	expect_soon 30 container systemctl is-system-running --wait
}

container_leads() {
	CONTAINER_LEADER=$(pgrep -P "$CONTAINER_NSPAWN") && container test -S /run/systemd/private
}

container() {
	nsenter -t "$CONTAINER_LEADER" -m -u -i -n -p -r -w -- \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TERM=dumb HOME=/root "$@"
}

container_as() {
	local user=$1

	shift
	container setpriv --reuid="$user" --regid="$user" --init-groups env HOME=/home/"$user" "$@"
}
