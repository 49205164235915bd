#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The README's commands for an installation from source, unchanged, in a Debian 12 with only the
# packages that debootstrap installs, and a recording with the installed kymo. Then the README's
# commands for a Debian package, and a recording with it. The test takes minutes, most of them for
# packages and compiling.

. "$(dirname "$0")/../support/container-words.sh"
container_private "$@"
. "$(dirname "$0")/../lib.sh"
container_need
need_command git

fresh=$TMP/root
mkdir "$fresh"
mount -t tmpfs -o mode=755,size=3g kymo-fresh "$fresh"
at_exit umount -l "$fresh"
debootstrap --variant=minbase --include=ca-certificates bookworm "$fresh" "$KYMO_DEBIAN_MIRROR" >"$TMP/log" 2>&1 || {
	tail -n 20 "$TMP/log" >&2
	fail "debootstrap failed"
}
note "debootstrap: $SECONDS s"
cp -L /etc/resolv.conf "$fresh/etc/resolv.conf"
mkdir "$fresh/src"
(cd "$ROOT" && git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$fresh/src")
for directory in proc sys dev; do
	mount --rbind "/$directory" "$fresh/$directory"
	mount --make-rslave "$fresh/$directory"
	at_exit umount -lR "$fresh/$directory"
done

# The commands below "From source". No systemd runs here, so it cannot reload anything.
sed -n '/^From source/,/^Or as/s/^    \([^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$ROOT/README.md" |
	sed 's/ && systemctl .*//' >"$TMP/commands"
assert_eq "$(grep -cE '^(tools/setup|meson setup|meson install|systemd-sysusers)' "$TMP/commands")" 4 "commands of the README"
# run_in_fresh COMMAND: runs a command of the README, unchanged, in the tree
run_in_fresh() {
	SECONDS=0
	chroot "$fresh" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive \
		bash -c "cd /src && $1" >"$TMP/log" 2>&1 </dev/null || {
		tail -n 30 "$TMP/log" >&2
		fail "$1"
	}
	note "$1: $SECONDS s"
}

while read -r command; do
	if [ "$command" = systemd-sysusers ]; then
		[ -x "$fresh/bin/systemd-sysusers" ] || continue # (a part of systemd, which is not installed)
	fi
	run_in_fresh "$command"
done <"$TMP/commands"

chroot "$fresh" kymo record --direct -d 500ms -o /t.fxt >"$TMP/log" 2>&1 || fail "the installed kymo does not record: $(cat "$TMP/log")"
expect_exit 0 "$KYMO" check "$fresh/t.fxt"
for file in bash-completion/completions/kymo zsh/vendor-completions/_kymo fish/vendor_completions.d/kymo.fish man/man1/kymo.1; do
	[ -s "$fresh/usr/share/$file" ] || fail "there is no /usr/share/$file"
done

# The commands below "Or as a Debian package". Before apt installs additional packages, it asks for
# confirmation, and nothing answers here.
run_in_fresh "ninja -C build uninstall"
! chroot "$fresh" which kymo >"$TMP/log" || fail "ninja uninstall leaves kymo"
sed -n '/^Or as a Debian package/,/^To compare/s/^    //p' "$ROOT/README.md" | sed 's/apt install/apt -y install/g' >"$TMP/commands"
assert_eq "$(wc -l <"$TMP/commands")" 2 "commands of the README"
while read -r command; do
	run_in_fresh "$command"
done <"$TMP/commands"
rm "$fresh/t.fxt"
chroot "$fresh" kymo record --direct -d 500ms -o /t.fxt >"$TMP/log" 2>&1 || fail "the package does not record: $(cat "$TMP/log")"
expect_exit 0 "$KYMO" check "$fresh/t.fxt"
