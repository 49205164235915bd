/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/shared-programs.h"

#include <errno.h>
#include <signal.h>

#include <bpf/bpf.h>

#include "base/clock.h"

/*
 * The minimum time between two sweeps. Without it, each program that does not fit would cause a
 * sweep while many live programs share memory.
 */
#define SWEEP_NS UINT64_C(1000000000)

static bool shared_programs_is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void shared_programs_sweep(const struct shared_programs *s)
{
	uint32_t pid, next;
	bool any = bpf_map_get_next_key(s->fd, NULL, &next) == 0;

	/*
	 * (if an eBPF program removes a key during the iteration, the iteration begins anew, so its
	 * length is limited)
	 */
	for (unsigned i = 0; any && i < 2 * MEMORY_PROCESSES_MAX; i++) {
		pid = next;
		any = bpf_map_get_next_key(s->fd, &pid, &next) == 0;
		if (shared_programs_is_gone(pid))
			bpf_map_delete_elem(s->fd, &pid);
	}
}

bool shared_programs_may_have(struct shared_programs *s, uint32_t pid)
{
	uint64_t n_missed = __atomic_load_n(s->n_missed, __ATOMIC_RELAXED);
	struct memory_program program;

	if (n_missed != s->n_seen) {
		s->n_seen = n_missed;
		s->missed_ns = clock_boot_ns();
		if (s->swept_ns == 0 || s->missed_ns >= s->swept_ns + SWEEP_NS) {
			s->swept_ns = s->missed_ns;
			shared_programs_sweep(s);
		}
	}
	return s->missed_ns > 0 || bpf_map_lookup_elem(s->fd, &pid, &program) == 0;
}

static bool shared_programs_same(const struct memory_program *a, const struct memory_program *b)
{
	return a->start_ns == b->start_ns && a->exec_id == b->exec_id;
}

/*
 * Removes an earlier program of PID from the map. If NOW has replaced that program meanwhile, NOW
 * stays, and the function returns true.
 */
static bool shared_programs_remove(const struct shared_programs *s, uint32_t pid,
				   const struct memory_program *now)
{
	struct memory_program removed;

	if (bpf_map_lookup_and_delete_elem(s->fd, &pid, &removed) < 0 ||
	    !shared_programs_same(&removed, now))
		return false;
	bpf_map_update_elem(s->fd, &pid, &removed, BPF_NOEXIST);
	return true;
}

bool shared_programs_has(const struct shared_programs *s, uint32_t pid,
			 const struct memory_program *now)
{
	struct memory_program program;

	if (!now || now->start_ns <= s->missed_ns)
		return true;
	if (bpf_map_lookup_elem(s->fd, &pid, &program) < 0)
		return false;
	return shared_programs_same(&program, now) || shared_programs_remove(s, pid, now);
}
