# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For slow checkers whose result for a file depends on this file only: files that were correct are
# not checked again while their contents and the checker are the same. The sums of correct files
# are in ~/.cache/kymo/checked.

# The number of sums that are kept for a checker: those of several trees.
KNOWN_MOST=20000

# check_unknown NAME KEY COMMAND ...: reads paths, each with a 0 at its end. COMMAND reads those of
# the files that the checker NAME has not found correct before. KEY is all else that the result
# depends on: the version and the configuration of the checker. Returns the status of COMMAND. If it
# is 0, the files are remembered. If a file cannot be read, the status is not 0.
#
# (Callers may test the status, so errexit is off here: each step is tested.)
check_unknown() {
	local work status=0

	if ! work=$(mktemp -d); then
		return 1
	fi
	check_unknown_in "$work" "$@" || status=$?
	rm -rf "$work"
	return $status
}

# check_unknown_in WORK NAME KEY COMMAND ...: the same, with an empty directory for its files.
check_unknown_in() {
	local work=$1 directory known='' sum path
	local -A is_known=()

	directory=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
	[ -z "$directory" ] || known=$directory/kymo/checked/$2-$(sha256sum <<<"$3" | cut -c 1-16)
	cat >"$work/paths" || return 1
	known_files_sum "$work/paths" "$work/sums" || return 1
	if [ -f "$known" ]; then
		while read -r sum; do
			is_known[$sum]=yes
		done <"$known"
	fi
	while read -r -d '' sum path; do
		[ "${is_known[$sum]:-}" ] || printf '%s\0' "$path"
	done <"$work/sums" >"$work/unknown" || return 1
	shift 3
	"$@" <"$work/unknown" || return
	if [ -n "$known" ] && [ -s "$work/unknown" ]; then
		known_files_remember "$work" "$known"
	fi
	return 0
}

# known_files_sum PATHS TO: writes the sum of each of the files to TO. Returns false if one is missing
# there.
known_files_sum() {
	xargs -0 -r sha256sum -z -- <"$1" >"$2" || return 1
	[ "$(tr -dc '\0' <"$1" | wc -c)" = "$(tr -dc '\0' <"$2" | wc -c)" ] || {
		echo "some sums of files are missing" >&2
		return 1
	}
}

# known_files_remember WORK KNOWN: adds the sums in WORK to KNOWN. They were taken before the check:
# a file that has changed since then is not known to be correct, neither before nor after the change.
known_files_remember() {
	mkdir -p "$(dirname "$2")" && known_files_sum "$1/paths" "$1/after" || return
	# (the last ones are those of this tree)
	{
		[ ! -f "$2" ] || cat "$2"
		LC_ALL=C comm -z -12 <(LC_ALL=C sort -z "$1/sums") <(LC_ALL=C sort -z "$1/after") |
			tr '\0' '\n' | cut -c 1-64
	} | tail -n $KNOWN_MOST >"$1/known" &&
		cp "$1/known" "$2.$$" && mv "$2.$$" "$2"
}
