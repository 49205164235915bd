# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo calls "$G/events.fxt"
kymo calls --function 'f*' - <"$G/events.fxt"
kymo calls --min 1ns "$G/events.fxt"
kymo calls --json "$G/events.fxt"
kymo export -o calls.trace "$G/events.fxt" && kymo dump calls.trace
kymo export --force --plain --order=arrival -o calls.trace "$G/events.fxt" && kymo dump calls.trace
kymo check calls.trace
kymo export --format apitrace --compress=none -o - "$G/events.fxt" | kymo dump - | tail -1
kymo export --split=pid -o each.trace "$G/events.fxt" && ls each* && kymo dump --json each-100.trace | head -3
