/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/text.h"
#include "capture/probes/probe-attacher.h"
#include "model/calls/call-syscalls.h"

struct call_probes {
	struct probe_attacher *attacher;
};

static int call_probes_complain(int error, const char *file, const char *what, char **reterr_text)
{
	return text_error(error, reterr_text, "cannot record calls of %s: %s: %s", file, what,
			  strerror(-error));
}

DEFINE_ORDER(call_probes_compare, struct allocator_probe,
	COMPARE(x->offset, y->offset) ?: COMPARE(x->kind, y->kind)
		?: COMPARE(x->function, y->function))

/*
 * Returns true if a return probe can record the returns of PLACE: control leaves the function only
 * by returning, and a return probe costs less than a `ret` that the kernel must single-step. A jump
 * to the beginning of the function would set another return probe.
 */
static bool call_probes_are_session(const struct call_place *place, bool fast)
{
	return !(place->flags & (CALL_PLACE_POINT | CALL_PLACE_LOOPS | CALL_PLACE_FRAGILE)) &&
	       (fast || place->flags & CALL_PLACE_LEAF);
}

/* Fills PROBES with the probes on the ends of PLACE, with COOKIE. Returns the end of the list. */
static struct allocator_probe *call_probes_list_ends(const struct call_place *place,
						     uint32_t cookie,
						     struct allocator_probe *probes)
{
	for (uint32_t ret = 0; ret < place->n_rets; ret++)
		*probes++ = (struct allocator_probe){ .offset = place->rets[ret],
						      .function = cookie,
						      .kind = ALLOCATOR_PROBE_RET };
	/*
	 * At a tail call, too, the return address is on the stack, so the jump is an end of the
	 * function.
	 */
	for (uint32_t tail = 0; tail < place->n_tails; tail++)
		*probes++ = (struct allocator_probe){ .offset = place->tails[tail],
						      .function = cookie | CALL_COOKIE_TAIL,
						      .kind = ALLOCATOR_PROBE_SESSION };
	return probes;
}

/* Returns the probes of SOURCE, sorted by offset, or NULL if there is no memory. */
static struct allocator_probe *call_probes_list(const struct call_source *source, bool fast,
						size_t *ret_n)
{
	size_t n = source->places.n;
	struct allocator_probe *probes;

	for (size_t i = 0; i < source->places.n; i++)
		n += source->places.places[i].n_rets + source->places.places[i].n_tails;
	probes = calloc(n, sizeof(*probes));
	if (!probes)
		return NULL;
	n = 0;
	for (size_t i = 0; i < source->places.n; i++) {
		const struct call_place *place = &source->places.places[i];
		uint32_t cookie = CALL_COOKIE((uint32_t)(source->first + i));
		bool session = call_probes_are_session(place, fast);

		probes[n++] = (struct allocator_probe){
			.offset = place->entry,
			.semaphore = place->semaphore,
			.function = cookie,
			.kind = session ? ALLOCATOR_PROBE_SESSION : ALLOCATOR_PROBE_ENTRY,
		};
		if (!session)
			n = (size_t)(call_probes_list_ends(place, cookie, probes + n) - probes);
	}
	SORT(probes, n, call_probes_compare);
	*ret_n = n;
	return probes;
}

static int call_probes_attach(struct call_probes *p, const struct call_source *source, int fd,
			      bool fast, const struct collector_calls *collector)
{
	_cleanup_free_ struct allocator_probe *probes = NULL;
	struct probes_target target = {
		.way = collector->way,
		.pid = PROBES_EVERY_PROCESS,
		.fd = fd,
	};
	struct probes_failed failed = { 0 };
	uint32_t id;

	memcpy(target.programs, collector->programs, sizeof(target.programs));
	probes = call_probes_list(source, fast, &target.n);
	target.probes = probes;
	if (!probes)
		return -ENOMEM;
	return probe_attacher_attach(p->attacher, &target, &id, &failed)
		       ?: failed.n ? -EOPNOTSUPP
				   : 0;
}

/* Returns the reason why a probe of SOURCE is missing. */
static const char *call_probes_missing(const struct call_source *source)
{
	for (size_t i = 0; i < source->places.n; i++)
		if (source->places.places[i].semaphore)
			return "the semaphore of a static probe could not be raised";
	return "not all probes could be placed";
}

/* Makes the eBPF programs record system call NUMBER as function I. */
static int call_probes_set_syscall(const struct collector_calls *collector, int number, uint32_t i)
{
	uint32_t key = (uint32_t)number, place = i + 1;

	return bpf_map_update_elem(collector->syscalls_fd, &key, &place, BPF_ANY) < 0 ? -errno : 0;
}

/* Makes the eBPF programs record the system calls with all unknown numbers. */
static int call_probes_set_unknown(const struct collector_calls *collector, uint32_t i)
{
	int r = 0;

	for (int number = 0; r == 0 && number < CALL_SYSCALLS_MAX; number++)
		if (!call_syscall_by_number(number))
			r = call_probes_set_syscall(collector, number, i);
	return r;
}

static int call_probes_announce(const struct call_targets *targets,
				const struct collector_calls *collector)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < targets->n; i++) {
		struct call_watch watch = call_target_watch(&targets->list[i]);

		if (bpf_map_update_elem(collector->functions_fd, &i, &watch, BPF_ANY) < 0)
			r = -errno;
		else if (!targets->list[i].place &&
			 targets->list[i].syscall == CALL_SYSCALL_UNKNOWN)
			r = call_probes_set_unknown(collector, i);
		else if (!targets->list[i].place)
			r = call_probes_set_syscall(collector, targets->list[i].syscall, i);
	}
	return r;
}

int call_probes_new(const struct call_targets *targets, const struct call_options *o,
		    const struct collector_calls *collector, uint64_t *cpu_ns_sum,
		    struct call_probes **ret, char **reterr_text)
{
	_cleanup_(call_probes_freep) struct call_probes *p = calloc(1, sizeof(*p));
	int r = p ? call_probes_announce(targets, collector) : -ENOMEM;

	r = r ?: probe_attacher_new(cpu_ns_sum, &p->attacher);
	if (r < 0)
		return call_probes_complain(r, "functions", "no probes", reterr_text);
	for (size_t i = 0; i < targets->n_sources; i++) {
		const struct call_source *source = &targets->sources[i];

		if (source->places.n > 0)
			r = call_probes_attach(p, source, o->files.fds[i], o->fast_returns,
					       collector);
		if (r < 0)
			return call_probes_complain(r, source->spec.file,
						    call_probes_missing(source), reterr_text);
	}
	*ret = TAKE_PTR(p);
	return 0;
}

struct call_probes *call_probes_free(struct call_probes *p)
{
	if (!p)
		return NULL;
	probe_attacher_free(p->attacher);
	return free_ptr(p);
}
