# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The completions of bash at the end of a line.
. "$(dirname "$0")/../../cli/kymo.bash-completion"
compopt() { :; }
machinectl() { printf '%s\n' 'web container systemd-nspawn' 'data container systemd-nspawn'; }
HOSTFILE=$PWD/hosts
echo '127.0.0.1 near nearer' >"$HOSTFILE"

# offered WORD ...: the last one is the one that is being typed
offered() {
	COMP_WORDS=(kymo "$@")
	COMP_CWORD=$#
	_kymo
	printf '%s:' "$*"
	printf ' %s' "${COMPREPLY[@]}"
	echo
}

offered rec
offered --v
offered -H host rec
offered -H host --v
offered -Hhost rec
offered --host host rec
offered --host = host rec
offered -M web --machine = data st
offered --socket li
offered --socket = /run/socket li
offered -H near
offered --host = near
offered record --host = near
offered --host =
offered -M w
offered --machine = d
offered --machine =
offered -H host -
offered -H host record --c
offered record -H host --c
offered -H host diff --by c
offered --by = c
offered -H host record -- kymo-no-such-pro
offered record --compress = z
offered record --compress =
offered -H host record --compress = z
offered -H host no-such-verb -
