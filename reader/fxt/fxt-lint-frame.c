/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks rules about the order of records in the file: providers are introduced before use, ticks
 * and strings are defined before use, losses are visible, modules precede mappings, and mappings
 * precede backtraces.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "reader/fxt/fxt-lint-state.h"
#include "reader/fxt/fxt-row.h"

/*
 * The maximum time by which a scheduling record can be late. A merge of the records of several CPUs
 * does not wait longer for late records.
 */
#define LATE_NS UINT64_C(10000000)

/* Some readers cannot handle more wakeups that name their waker. */
#define WAKERS_MANY 100000

/* The value of each element in sets. */
static char seen;

static struct fxt_lint_provider *fxt_lint_frame_get_provider(struct fxt_lint *l, uint32_t id)
{
	return fxt_lint_get(l, &l->providers, (uint64_t)id + 1, sizeof(struct fxt_lint_provider),
			    FXT_LINT_PROVIDERS_MAX);
}

/* Returns the provider of R; NULL if it is unknown. */
static struct fxt_lint_provider *fxt_lint_frame_enter(struct fxt_lint *l,
						      const struct fxt_record *r)
{
	if (!l->provider || l->provider->tables != r->provider) {
		l->provider = fxt_lint_frame_get_provider(l, r->provider->id);
		if (l->provider) {
			l->provider->tables = r->provider;
			l->provider->id = r->provider->id;
		}
	}
	return l->provider;
}

static void fxt_lint_frame_introduce(struct fxt_lint *l, struct fxt_lint_provider *p,
				     const struct fxt_record *r)
{
	if (p->introduced && l->has_kymo && !p->is_kymo)
		p->again = l->here;
	else if (p->introduced)
		fxt_lint_find(l, FXT_FINDING_PROVIDER_AGAIN, l->here, r->metadata.provider_id, 0);
	p->introduced = l->any_provider = true;
	p->has_init = p->timed = false;
	p->ticks_per_second = 1000000000;
}

/*
 * When a program has ended, kymo gives its provider id to another program, and introduces the id
 * again without repeating the tables. Then the next event must be of another process.
 */
static void fxt_lint_frame_check_again(struct fxt_lint *l, struct fxt_lint_provider *p,
				       const struct fxt_record *r)
{
	uint64_t process = r->thread.pid + 1;

	if (!r->thread.defined)
		return;
	if (p->again.number != 0 && process == p->process)
		fxt_lint_find(l, FXT_FINDING_PROVIDER_AGAIN, p->again, p->id, 0);
	p->again.number = 0;
	p->process = process;
}

static bool fxt_lint_frame_is_introduced(const struct fxt_lint *l, uint32_t id)
{
	const struct fxt_lint_provider *p = table_get(&l->providers, (uint64_t)id + 1);

	/* Readers accept provider 0 without an introduction, if no provider is introduced. */
	return (p && p->introduced) || (id == 0 && !l->any_provider);
}

static void fxt_lint_frame_check_metadata(struct fxt_lint *l, struct fxt_lint_provider *p,
					  const struct fxt_record *r)
{
	uint32_t id = r->metadata.provider_id;

	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		fxt_lint_frame_introduce(l, p, r);
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		if (!fxt_lint_frame_is_introduced(l, id)) {
			l->reported_offset = r->offset;
			fxt_lint_find(l, FXT_FINDING_PROVIDER_UNKNOWN, l->here, id, 0);
		}
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		if (!fxt_lint_frame_is_introduced(l, id))
			fxt_lint_find(l, FXT_FINDING_PROVIDER_UNKNOWN, l->here, id, 0);
		if (r->metadata.number == FXT_PROVIDER_EVENT_BUFFER_FILLED && l->n_losses++ == 0)
			l->first_loss = l->here;
		break;
	default:
		break;
	}
}

static void fxt_lint_frame_check_init(struct fxt_lint *l, struct fxt_lint_provider *p,
				      const struct fxt_record *r)
{
	uint64_t ticks = r->initialization.ticks_per_second;
	uint64_t before = p->ticks_per_second ? p->ticks_per_second : 1000000000;

	if (p->timed && ticks != before)
		fxt_lint_find(l, FXT_FINDING_INIT_LATE, l->here, ticks, before);
	p->has_init = true;
	p->ticks_per_second = ticks;
}

static void fxt_lint_frame_check_time(struct fxt_lint *l, struct fxt_lint_provider *p,
				      const struct fxt_record *r)
{
	if (!p->timed && !p->has_init)
		fxt_lint_find(l, FXT_FINDING_INIT_MISSING, l->here, p->id, 0);
	p->timed = true;
	if (r->type != FXT_RECORD_SCHEDULING)
		return;
	/* Two kinds of records may be late: synthetic switches after a loss, and wakeups that were
	 * held back until their thread left the CPU. */
	if (l->findings.facts.synthetic)
		l->synthetic_ns = r->ts_ns;
	if (r->ts_ns >= l->sched_last_ns)
		l->sched_last_ns = r->ts_ns;
	else if (l->sched_last_ns - r->ts_ns > LATE_NS && r->ts_ns != l->synthetic_ns)
		fxt_lint_find(l,
			      r->subtype == FXT_SCHED_WAKEUP ? FXT_FINDING_WAKE_LATE
							     : FXT_FINDING_SCHED_UNSORTED,
			      l->here, l->sched_last_ns - r->ts_ns, 0);
	if (l->findings.facts.waker && ++l->n_wakers == WAKERS_MANY + 1)
		fxt_lint_find(l, FXT_FINDING_WAKERS_MANY, l->here, l->n_wakers, 0);
}

/* Reports a thread index that another provider uses for another thread: some readers share one
 * table. */
static void fxt_lint_frame_check_index(struct fxt_lint *l, const struct fxt_record *r)
{
	unsigned index = r->thread_record.index;
	const struct fxt_lint_provider *p;

	for (size_t pos = 0; (p = table_next(&l->providers, &pos));) {
		const struct fxt_thread *t = p->tables ? &p->tables->threads[index] : NULL;

		if (t && p->tables != r->provider && t->defined &&
		    (t->pid != r->thread.pid || t->tid != r->thread.tid)) {
			fxt_lint_find(l, FXT_FINDING_THREAD_INDEX_SHARED, l->here, index, p->id);
			return;
		}
	}
}

/* Returns true if NAME is the name of an event that reports lost records or a lost part of the
 * archive. */
static bool fxt_lint_frame_is_loss_name(const struct fxt_text *name)
{
	static const char *const words[] = {
		"lost", "loss", "drop", "overflow", "discard", "damage"
	};

	for (size_t i = 0; name->bytes && i < ARRAY_SIZE(words); i++)
		for (size_t at = 0; at + strlen(words[i]) <= name->length; at++)
			if (strncasecmp(name->bytes + at, words[i], strlen(words[i])) == 0)
				return true;
	return false;
}

/* Returns true if the N words at KEY are new. Adds them to T. */
static bool fxt_lint_frame_is_new(struct fxt_lint *l, const uint64_t *key, size_t n)
{
	uint64_t hash = table_hash(key, n * sizeof(*key));

	if (table_get(&l->modules, hash))
		return false;
	if (l->modules.n_used >= FXT_LINT_MODULES_MAX)
		l->n_not_judged++;
	else if (table_set(&l->modules, hash, &seen) < 0)
		l->error = -ENOMEM;
	return true;
}

static bool fxt_lint_frame_is_known(const struct fxt_lint *l, const uint64_t *key, size_t n)
{
	return l->modules.n_used >= FXT_LINT_MODULES_MAX ||
	       table_get(&l->modules, table_hash(key, n * sizeof(*key)));
}

/*
 * Returns true if R has an address outside of the kernel, so that a mapping of the process must
 * contain the address.
 */
static bool fxt_lint_frame_has_user_address(const struct fxt_record *r)
{
	for (size_t i = 0; i < r->backtrace.n_frames; i++)
		if (!(r->backtrace.frames[i] >> 63))
			return true;
	return false;
}

static void fxt_lint_frame_check_profiler(struct fxt_lint *l, const struct fxt_record *r)
{
	const uint64_t process[] = { r->thread.pid };
	uint64_t module[] = { r->thread.pid, 0 };

	if (!r->thread.defined)
		return;
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		module[1] = r->module.id;
		fxt_lint_frame_is_new(l, module, 2);
		break;
	case FXT_PROFILER_MMAP:
		module[1] = r->mmap.module_id;
		if (!fxt_lint_frame_is_known(l, module, 2))
			fxt_lint_find(l, FXT_FINDING_MMAP_BEFORE_MODULE, l->here, module[0],
				      module[1]);
		fxt_lint_frame_is_new(l, process, 1);
		break;
	default:
		if (fxt_lint_frame_has_user_address(r) && !fxt_lint_frame_is_known(l, process, 1))
			fxt_lint_find(l, FXT_FINDING_BACKTRACE_BEFORE_MMAP, l->here, process[0], 0);
	}
}

/*
 * A child inherits the mappings of its parent (docs/FXT-MAPPING.md), so the archive need not repeat
 * them: treats the child as a process with mappings.
 */
static void fxt_lint_frame_check_fork(struct fxt_lint *l, const struct fxt_record *r)
{
	struct fxt_arg arg;

	if (fxt_record_row(r) == FXT_ROW_FORK &&
	    fxt_args_find(r->args, FXT_NAME_CHILD_PROCESS, FXT_ARG_KOID, &arg))
		fxt_lint_frame_is_new(l, &arg.uint64, 1);
}

void fxt_lint_frame(struct fxt_lint *l, const struct fxt_record *r)
{
	struct fxt_lint_provider *p = fxt_lint_frame_enter(l, r);

	if (!p)
		return;
	p->is_kymo |= r->provider->is_kymo;
	l->has_kymo |= p->is_kymo;
	switch (r->type) {
	case FXT_RECORD_METADATA:
		fxt_lint_frame_check_metadata(l, p, r);
		break;
	case FXT_RECORD_INITIALIZATION:
		fxt_lint_frame_check_init(l, p, r);
		break;
	case FXT_RECORD_STRING:
		if (!l->any_provider)
			fxt_lint_find(l, FXT_FINDING_STRING_BEFORE_PROVIDER, l->here,
				      r->string.index, 0);
		break;
	case FXT_RECORD_THREAD:
		fxt_lint_frame_check_index(l, r);
		break;
	case FXT_RECORD_EVENT:
		if (!l->loss_reported)
			l->loss_reported = fxt_lint_frame_is_loss_name(&r->name);
		fxt_lint_frame_check_again(l, p, r);
		fxt_lint_frame_check_fork(l, r);
		break;
	case FXT_RECORD_PROFILER:
		fxt_lint_frame_check_profiler(l, r);
		break;
	default:
		break;
	}
	if (fxt_record_has_time(r))
		fxt_lint_frame_check_time(l, p, r);
}

void fxt_lint_frame_finish(struct fxt_lint *l)
{
	if (l->n_losses > 0 && !l->loss_reported)
		fxt_lint_find(l, FXT_FINDING_LOSS_INVISIBLE, l->first_loss, l->n_losses, 0);
}
