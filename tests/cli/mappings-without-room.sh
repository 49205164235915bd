# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One mapping is repeated up to the limit of mappings, before those of the archive: each verb that
# names code reports this.

# make_flood FILE: `flood` prints it then
make_flood() {
	local n first

	file=$1
	first=$(kymo dump --json "$file" | gojq -s 'map(select(.name == "mapping")) | min_by(.record_size)')
	offset=$(gojq .offset <<<"$first")
	dd if="$file" of=many iflag=skip_bytes,count_bytes skip="$offset" \
		count=$(($(gojq .record_size <<<"$first") * 8)) status=none
	for ((n = 1; n < 16384; n *= 2)); do
		cat many many >doubled
		mv doubled many
	done
}
flood() {
	head -c "$offset" "$file"
	for _ in {1..64}; do cat many; done
	tail -c +$((offset + 1)) "$file"
}
said() {
	echo "-- kymo $*"
	flood | kymo "$@" >out 2>said || echo "exit $?"
	grep 'were ignored' said || echo "nothing said"
	if [[ $* = *--json* ]]; then
		gojq .mappings_without_room out
	fi
}
make_flood "$G/profile.fxt"
said flame --format folded -o named -
said summary --json -
said symbolize --json - named.fxt
make-profile leaks.fxt <"$L/demo"
make_flood leaks.fxt
said leaks --json -
