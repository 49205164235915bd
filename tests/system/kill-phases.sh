#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kill-phases.sh [KILLS]: the service is killed so often in each phase of a session that watches
# what programs allocate: while it attaches, while it runs, while it detaches, while it rotates, and
# while it takes a snapshot. Programs have the code of their files again each time, nothing stays in
# the kernel, and what was written can be read.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../support/collect-words.sh"
need_btf
need_bus

kills=${1:-1}
# (some of them: PHASES="attach detach")
categories=sched,profile,offcpu,memory
start_service_bus
target=$TMP/kt$RANDOM
cp "$(command -v sleep)" "$target"
profile phases <<-END
	[Collection]
	Categories=$categories
	[Filter]
	Comm=${target##*/}
	[Output]
	Directory=$TMP/out
	RotateTime=1h
END

targets=()
for _ in {1..6}; do
	"$target" infinity &
	targets+=($!)
done

# n_patched: bytes of code of all targets that are not those of their files
n_patched() {
	local pid n=0

	for pid in "${targets[@]}"; do
		n=$((n + $("$MEMORY_LOAD" patched "$pid")))
	done
	echo $n
}
any_patched() {
	[ "$(n_patched)" != 0 ]
}
all_patched() {
	local pid

	for pid in "${targets[@]}"; do
		[ "$("$MEMORY_LOAD" patched "$pid")" -gt 0 ] || return 1
	done
}
none_patched() {
	[ "$(n_patched)" = 0 ]
}
service_runs() {
	local pid

	pid=$(cat "$TMP/kymod.pid") && [ "$(cat "/proc/$pid/comm")" = kymod ] && grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ"
}
service_answers() {
	"$KYMO" list --bus "$BUS"
}

# sleep_ms MOST: at random
sleep_ms() {
	sleep "$(printf '0.%03d' $((RANDOM % ($1 + 1))))"
}

# order VERB ...: in the background, whatever becomes of it
clients=()
order() {
	"$KYMO" "$@" --bus "$BUS" >"$TMP/order.log" 2>&1 &
	clients+=($!)
}
start_session() {
	order start phases -e $categories --comm "${target##*/}" -o "$TMP/phases.fxt" --force
}
# Without a pause: it is a matter of milliseconds.
watch_for_probes() {
	local i

	for i in {1..2000}; do
		[ "$("$MEMORY_LOAD" patched "${targets[i % 6]}")" = 0 ] || return 0
	done
}
running_session() {
	start_session
	expect_soon 30 all_patched
}

# begin PHASE: it has begun, some time ago
begin() {
	case $1 in
	attach)
		start_session
		sleep_ms "$attach_ms"
		# Each other one comes with the first probe.
		[ $((RANDOM % 2)) = 0 ] || watch_for_probes
		;;
	running)
		running_session
		sleep_ms 300
		;;
	detach)
		running_session
		order stop phases
		sleep_ms 250
		;;
	rotate)
		order collect phases
		expect_soon 30 all_patched
		order rotate phases
		sleep_ms 40
		;;
	snapshot)
		running_session
		order snapshot phases
		sleep_ms 40
		;;
	esac
}

# Clients are not to start another service for themselves.
kill_all() {
	local pid

	for pid in "${clients[@]}"; do
		kill -STOP "$pid" 2>/dev/null || true
	done
	end_kymod KILL
	for pid in "${clients[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	clients=()
}

check_files() {
	local file

	for file in "$TMP/phases.fxt" "$TMP"/out/*.fxt "$TMP"/out/.*.part; do
		[ -s "$file" ] || continue
		expect_exit "0|3" "$KYMO" check --json "$file"
		jq -e '.errors == (if .truncated then 1 else 0 end)' "$TMP/stdout" >/dev/null ||
			fail "$file: errors other than a cut tail: $(cat "$TMP/stdout")"
	done
	rm -rf "$TMP/phases.fxt" "$TMP"/out/* "$TMP"/out/.*.part
}

remember_bpf
begin_ms=$(date +%s%3N)
running_session
attach_ms=$(($(date +%s%3N) - begin_ms))
kill_all
check_files
for phase in ${PHASES:-attach running detach rotate snapshot}; do
	n_within=0
	for ((i = 1; i <= kills; i++)); do
		expect_soon 20 service_answers
		begin "$phase"
		! any_patched || n_within=$((n_within + 1))
		kill_all
		# (the one who keeps the probes notices that its owner has gone)
		wait_for 5 none_patched || fail "$phase, kill $i: $(n_patched) bytes of code are not those of the files"
		check_files
		# (who holds what takes its time to find out)
		[ $((i % 10)) != 0 ] || no_bpf_left "$phase, kill $i"
	done
	no_bpf_left "$phase"
	note "$phase: $kills kills, $n_within of them with probes in their places"
done
for pid in "${targets[@]}"; do
	! is_gone "$pid" || fail "a program that was watched has ended"
done
