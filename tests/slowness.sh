# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How much slower this machine is now than a quiet one. All limits of time in tests are scaled by
# it, so that a test fails for an answer of kymo and not for the load of the machine.
#
#	. tests/slowness.sh       defines the functions below
#	tests/slowness.sh         measures, and prints the factor
#
# KYMO_TEST_BUILD_FACTOR multiplies all limits: builds with sanitizers, and valgrind, need longer on
# every machine. KYMO_TEST_SLOWNESS is the minimum factor; tools/run-tests sets it from the times of
# the start and the end of a recording.
#
# A measurement is valid for SLOWNESS_VALID_S. Most callers of `limit` are subshells, which cannot
# change a variable of their test, so the last measurement is kept in a file (slowness_keep).

# The measured work: numbers of processes and turns of a loop. A quiet machine of 2 CPUs needs
# SLOWNESS_QUIET_US for it.
SLOWNESS_PROCESSES=10
SLOWNESS_TURNS=5000
SLOWNESS_QUIET_US=30000
SLOWNESS_MOST=8
SLOWNESS_VALID_S=10
SLOWNESS_KEPT=

# (EPOCHREALTIME has the decimal separator of the language.)

# slowness_measure: sets SLOWNESS, 1 to SLOWNESS_MOST
slowness_measure() {
	local n begin=${EPOCHREALTIME/[.,]/} least=${KYMO_TEST_SLOWNESS:-1}

	if [ "$least" -ge $SLOWNESS_MOST ]; then
		SLOWNESS=$SLOWNESS_MOST
		return
	fi
	for ((n = 0; n < SLOWNESS_PROCESSES; n++)); do
		/bin/true
	done
	for ((n = 0; n < SLOWNESS_TURNS; n++)); do
		:
	done
	SLOWNESS=$(((${EPOCHREALTIME/[.,]/} - begin + SLOWNESS_QUIET_US - 1) / SLOWNESS_QUIET_US))
	SLOWNESS=$((SLOWNESS > least ? SLOWNESS : least))
	SLOWNESS=$((SLOWNESS < SLOWNESS_MOST ? SLOWNESS : SLOWNESS_MOST))
	SLOWNESS=$((SLOWNESS > 1 ? SLOWNESS : 1))
}

# slowness_keep FILE: from now on, the last measurement is kept in FILE
slowness_keep() {
	SLOWNESS_KEPT=$1
}

# slowness_know: sets SLOWNESS to a valid measurement
slowness_know() {
	local at=0

	# (a file that is just being written is empty)
	[ ! -s "$SLOWNESS_KEPT" ] || read -r at SLOWNESS <"$SLOWNESS_KEPT" || at=0
	[ $((EPOCHSECONDS - at)) -ge $SLOWNESS_VALID_S ] || return 0
	slowness_measure
	# (after the end of a test, its directory is gone)
	[ ! -d "${SLOWNESS_KEPT%/*}" ] || echo "$EPOCHSECONDS $SLOWNESS" >"$SLOWNESS_KEPT"
}

# limit SECONDS: prints the seconds that something may take here that takes at most SECONDS on a
# quiet machine. For timeout(1).
limit() {
	slowness_know
	echo $(($1 * ${KYMO_TEST_BUILD_FACTOR:-1} * SLOWNESS))
}

# slowness_pause: waits for 50 ms. If measurements are kept, it starts no process, but reads a FIFO
# beside them, which is always empty. (No child inherits its descriptor, since nothing starts
# meanwhile.)
slowness_pause() {
	local status=0 fifo=$SLOWNESS_KEPT.never

	if [ "$SLOWNESS_KEPT" ]; then
		[ -p "$fifo" ] || mkfifo "$fifo" 2>/dev/null || true
		{ read -rt 0.05 _ <>"$fifo" || status=$?; } 2>/dev/null
	fi
	# (a status above 128: the time is over)
	[ "$status" -gt 128 ] || sleep 0.05
}

# wait_for SECONDS COMMAND ...: until COMMAND succeeds. False if it did not within `limit SECONDS`, in
# at least 20 tries.
wait_for() {
	local tries=0 measured='' begin=${EPOCHREALTIME/[.,]/} most=$(($1 * 1000000 * ${KYMO_TEST_BUILD_FACTOR:-1}))

	shift
	while ! "$@" >/dev/null 2>&1; do
		if [ $((++tries)) -ge 20 ] && [ $((${EPOCHREALTIME/[.,]/} - begin)) -gt "$most" ]; then
			# (Nothing is measured while the answer comes in time.)
			[ -z "$measured" ] || return 1
			measured=yes
			slowness_measure
			most=$((most * SLOWNESS))
		fi
		slowness_pause
	done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	slowness_measure
	echo "$SLOWNESS"
fi
