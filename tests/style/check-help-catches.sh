#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-help-catches.sh KYMO: check-help finds descriptions of --host, --machine and --bus that are
# not aligned, whether or not a value follows their names.

set -euo pipefail
. "$(dirname "$0")/../slowness.sh"

tmp=$(mktemp -d)
slowness_keep "$tmp/slowness"
trap 'rm -rf "$tmp"' EXIT

# A kymo with two verbs, whose help has a description one column to the right.
cat >"$tmp/kymo" <<EOF
#!/bin/bash
"$1" "\$@" | sed -E -e 's/^( *--bus[= ]ADDRESS)/\1 /' -e '/^  (start|list)  /b' -e '/^  [a-z][a-z-]*  /d'
exit "\${PIPESTATUS[0]}"
EOF
chmod +x "$tmp/kymo"
status=0
timeout "$(limit 100)" "$(dirname "$0")/check-help" "$tmp/kymo" >"$tmp/said" || status=$?
if [ "$status" != 1 ]; then
	echo "check-help exited with $status"
	exit 1
fi
for row in 'start --help: not aligned:  *--bus=ADDRESS' 'list --help: not aligned:  *--bus=ADDRESS'; do
	if [ "$(grep -c "^kymo $row" "$tmp/said")" != 1 ]; then
		echo "check-help does not find '$row':"
		cat "$tmp/said"
		exit 1
	fi
done
