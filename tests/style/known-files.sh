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
# is 0, the files are remembered.
check_unknown() {
	local directory=${XDG_CACHE_HOME:-$HOME/.cache}/kymo/checked work known sum path status=0
	local -A is_known=()

	work=$(mktemp -d)
	known=$directory/$1-$(sha256sum <<<"$2" | cut -c 1-16)
	xargs -0 -r sha256sum -z -- >"$work/sums"
	while read -r sum; do
		is_known[$sum]=yes
	done < <(cat "$known" 2>/dev/null)
	while read -r -d '' sum path; do
		[ "${is_known[$sum]:-}" ] || printf '%s\0' "$path"
	done <"$work/sums" >"$work/unknown"
	shift 2
	"$@" <"$work/unknown" || status=$?
	if [ $status = 0 ] && [ -s "$work/unknown" ] && mkdir -p "$directory"; then
		# (the last ones are those of this tree)
		{
			cat "$known" 2>/dev/null || true
			tr '\0' '\n' <"$work/sums" | cut -c 1-64
		} | tail -n $KNOWN_MOST >"$work/known"
		cp "$work/known" "$known.$$" && mv "$known.$$" "$known"
	fi
	rm -rf "$work"
	return $status
}
