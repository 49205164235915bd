# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions for tests that check that kymo leaves no BPF objects in the kernel; part of lib.sh.

# "kind id name", one per row. A link has the name of its program.
bpf_ids() {
	local programs

	programs=$(bpftool -j prog show) || return
	gojq -r '.[] | "prog \(.id) \(.name // "?")"' <<<"$programs" || return
	bpftool -j link show | gojq -r --argjson programs "$programs" '
		($programs | map({ key: (.id | tostring), value: .name }) | from_entries) as $names |
		.[] | "link \(.id) \($names[.prog_id | tostring] // "?")"' || return
	bpftool -j map show | gojq -r '.[] | "map \(.id) \(.name // "?")"'
}

# bpf_is_kymo NAME: whether kymo's eBPF programs contain an object with this name (the kernel keeps
# 15 characters)
bpf_is_kymo() {
	[ -s "$TMP/bpf.names" ] || readelf -sW "$KYMO_BUILD/bpf/kymo.bpf.o" |
		awk '$4 == "FUNC" || $4 == "OBJECT" { print substr($8, 1, 15) }' | sort -u >"$TMP/bpf.names"
	case $1 in
	kymo* | "?") return 0 ;;
	*) grep -qxF -e "$1" "$TMP/bpf.names" ;;
	esac
}

# Processes that hold BPF objects, one per row: kind, id, pid. All rows come from one pass over the
# processes, since some have hundreds of descriptors.
bpf_holders() {
	{ grep -sE '^(prog|link|map)_id:' /proc/[0-9]*/fdinfo/* || true; } |
		sed -nE 's|^/proc/([0-9]+)/fdinfo/[0-9]+:([a-z]+)_id:[[:space:]]*([0-9]+)$|\2 \3 \1|p' | sort -u
}

# bpf_ids_are_in FILE: writes them to FILE, sorted. bpftool fails if an object of another recording
# goes away meanwhile.
bpf_ids_are_in() {
	bpf_ids >"$TMP/bpf.ids" 2>/dev/null && sort "$TMP/bpf.ids" >"$1"
}

# Remembers the present BPF objects; no_bpf_left compares with them.
remember_bpf() {
	expect_soon 10 bpf_ids_are_in "$TMP/bpf.before"
}

# Objects that were made since remember_bpf, have a name of kymo, and are held by no process or by a
# process of this test. Objects of other recordings on the same machine are ignored.
bpf_left() {
	local kind id name pid ours holders
	local -A is_ours=() is_kymo=() # by pid, and by name: one recording can have hundreds

	bpf_ids_are_in "$TMP/bpf.now" || {
		echo "(bpftool does not say)"
		return
	}
	comm -13 "$TMP/bpf.before" "$TMP/bpf.now" >"$TMP/bpf.new"
	[ -s "$TMP/bpf.new" ] || return 0
	bpf_holders >"$TMP/bpf.holders"
	awk 'NR == FNR { held[$1, $2] = held[$1, $2] " " $3; next } { print $1, $2, $3 held[$1, $2] }' \
		"$TMP/bpf.holders" "$TMP/bpf.new" >"$TMP/bpf.held"
	while read -r kind id name holders; do
		if [ -z "${is_kymo[$name]:-}" ]; then
			is_kymo[$name]=no
			! bpf_is_kymo "$name" || is_kymo[$name]=yes
		fi
		ours=${is_kymo[$name]}
		for pid in $holders; do
			if [ -z "${is_ours[$pid]:-}" ]; then
				is_ours[$pid]=no
				! grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ" || is_ours[$pid]=yes
			fi
			ours=${is_ours[$pid]}
			[ "$ours" = no ] || break
		done
		[ "$ours" = no ] || echo "$kind $id $name${holders:+ (held by $holders)}"
	done <"$TMP/bpf.held"
}

no_bpf_is_left() {
	[ -z "$(bpf_left)" ]
}

# The kernel frees them a moment after the last descriptor is closed.
no_bpf_left() {
	wait_for 5 no_bpf_is_left || fail "left in the kernel after ${1:-the test}: $(bpf_left | sed -n 1,5p)"
}
