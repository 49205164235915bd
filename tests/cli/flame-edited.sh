# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Mappings and names are also in archives that edits have made.
flame() {
	kymo check "$@" && kymo flame "$@" --format folded -o -
	kymo dump "$@" | grep -c "blob .*perfetto_samples"
}
kymo cut --from 84ms "$G/profile.fxt" cut.fxt 2>/dev/null
flame cut.fxt
kymo cut --to 25ms --pid 100 "$G/profile-bare.fxt" cut-bare.fxt 2>/dev/null
flame cut-bare.fxt
kymo merge "$G/profile.fxt" "$G/profile.fxt" merged.fxt 2>/dev/null
flame merged.fxt
kymo repair "$G/profile.fxt" repaired.fxt 2>/dev/null
flame repaired.fxt
