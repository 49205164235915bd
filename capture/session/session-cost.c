/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a session is measured each second. When the cost is too high, parts of the recording
 * are stopped, and later resumed (docs/architecture/budgets.md).
 */
#include "capture/session/session-parts.h"

#include <string.h>

#include "capture/proc/machine.h"

uint64_t session_cpu_ns(const struct session *s)
{
	uint64_t all_ns = s->loop_cpu_ns + s->worker_cpu_ns + s->status.cpu_ns;

	/*
	 * Loading the eBPF programs takes longer than many recordings, so this time is not counted.
	 */
	return all_ns > s->setup_cpu_ns ? all_ns - s->setup_cpu_ns : 0;
}

uint64_t session_read_costs(struct session *s)
{
	if (s->recorder.pipe.collector && s->costs.last)
		costs_update(&s->costs, collector_costs(s->recorder.pipe.collector));
	s->worker_cpu_ns = worker_cpu_ns(s->worker);
	return costs_total(&s->costs).ns + session_cpu_ns(s);
}

int session_write_steps(struct session *s)
{
	int r = 0;

	while (r == 0 && s->n_steps_written < s->n_steps) {
		const struct session_shed *step = &s->steps[s->n_steps_written % SESSION_STEPS_MAX];
		const struct event ev = {
			.kind = EVENT_SHED,
			.ts_ns = step->ts_ns,
			.shed = {
				.what = budget_shed_names[step->what],
				.session = s->options.name,
				.cost_ppm = step->cost_ppm,
				.limit_ppm = step->limit_ppm,
				.n_cpus = step->n_cpus,
				.back = step->back,
			},
		};

		s->n_steps_written++;
		r = recorder_shed(&s->recorder, &ev);
	}
	return r;
}

/* ---- the limit ---- */

/*
 * Of the two limits, for one CPU and for the machine, the lower one applies. Returns 0 if this is a
 * share of the time of one CPU, otherwise the number of CPUs; the limit is then a share of their
 * total time.
 */
static uint32_t session_cost_share_of(const struct session *s)
{
	const struct session_options *o = &s->options;
	unsigned n = machine_n_cpus();

	if (!o->max_overhead_machine_ppm ||
	    (o->max_overhead_ppm && o->max_overhead_ppm <= n * o->max_overhead_machine_ppm))
		return 0;
	return n;
}

static uint64_t session_limit_of(const struct session *s)
{
	uint32_t n = session_cost_share_of(s);

	return n ? n * s->options.max_overhead_machine_ppm : s->options.max_overhead_ppm;
}

/* Reads the work of the machine, but only if a part may have to be stopped or resumed. */
static uint64_t session_read_work(const struct session *s)
{
	return s->budget.n_over || s->budget.shed_bits ? machine_switches("/proc/stat") : 0;
}

/* ---- steps ---- */

static void session_cost_forget_shed(struct session *s, enum budget_shed what)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sheds; i++)
		if (s->sheds[i].what != what)
			s->sheds[n++] = s->sheds[i];
	s->n_sheds = n;
}

void session_record_step(struct session *s, enum budget_shed what, bool back, uint64_t ts_ns)
{
	const struct session_shed step = {
		.what = what,
		.ts_ns = ts_ns,
		.cost_ppm = s->budget.ppm,
		.limit_ppm = s->budget.limit_ppm,
		.n_cpus = session_cost_share_of(s),
		.back = back,
	};

	/* The output has stalled for so long that the ring is full. The oldest step is lost. */
	if (s->n_steps - s->n_steps_written == SESSION_STEPS_MAX)
		s->n_steps_written++;
	s->steps[s->n_steps++ % SESSION_STEPS_MAX] = step;
	session_cost_forget_shed(s, what);
	if (!back)
		s->sheds[s->n_sheds++] = step;
}

static void session_cost_order(struct session *s, uint32_t shed_bits)
{
	s->shed_bits = shed_bits;
	s->budget.begun = false; /* no checks until the worker reports the change */
	worker_order_shed(s->worker, shed_bits);
}

static void session_cost_shed(struct session *s, enum budget_shed what, uint64_t now_ns)
{
	session_record_step(s, what, false, now_ns);
	if (what == SHED_SESSION && !s->options.pauses) {
		session_end(s, "overhead");
		return;
	}
	if (what == SHED_SESSION)
		session_pause(s, now_ns);
	session_cost_order(s, s->shed_bits | UINT32_C(1) << what);
}

/*
 * Orders that a part is resumed. The change is reported when the worker has carried out the order.
 */
static void session_cost_return_part(struct session *s, enum budget_shed what)
{
	if (what == SHED_SESSION)
		session_resume(s);
	session_cost_order(s, s->shed_bits & ~(UINT32_C(1) << what));
}

/* Handles parts that could not be resumed. */
static void session_see_failed(struct session *s, const struct worker_results *results)
{
	for (enum budget_shed what = 0; what < SHED_MAX; what++) {
		if (!((s->shed_bits ^ results->shed_bits) >> what & 1))
			continue;
		s->shed_bits |= UINT32_C(1) << what;
		budget_failed(&s->budget, what, clock_boot_ns());
		if (what == SHED_SESSION && s->pause == SESSION_RESUMES)
			session_stay_paused(s);
	}
	s->n_failed = results->n_failed;
}

void session_update_sheds(struct session *s, const struct worker_results *results)
{
	uint32_t back = s->shed_done & ~results->shed_bits;
	bool failed = results->n_failed != s->n_failed;

	if (failed)
		session_see_failed(s, results);
	if (!failed && results->shed_bits == s->shed_done)
		return;
	s->shed_done = results->shed_bits;
	/*
	 * The end of a pause is not recorded here, since it is written together with the new list
	 * of tasks.
	 */
	for (enum budget_shed what = 0; what < SHED_SESSION; what++)
		if (back >> what & 1)
			session_record_step(s, what, true, clock_boot_ns());
	budget_begin(&s->budget, clock_boot_ns(), session_read_costs(s), session_read_work(s));
}

void session_check_budget(struct session *s)
{
	uint64_t now_ns = clock_boot_ns(), cost_ns = session_read_costs(s);
	struct budget *b = &s->budget;
	enum budget_shed what;

	if (*s->reason || !s->complete)
		return;
	b->limit_ppm = session_limit_of(s);
	switch (budget_check(b, now_ns, cost_ns, session_read_work(s), &what)) {
	case BUDGET_SHED:
		session_cost_shed(s, what, now_ns);
		break;
	case BUDGET_RETURN:
		session_cost_return_part(s, what);
		break;
	case BUDGET_STAY:
		/* From here on, the work of the machine is needed. */
		if (b->n_over && !b->work)
			b->work = session_read_work(s);
	}
}

void session_begin_budget(struct session *s)
{
	uint32_t categories = s->options.categories;

	s->budget.limit_ppm = session_limit_of(s);
	s->budget.running_bits = UINT32_C(1) << SHED_SESSION;
	if (categories & CATEGORIES_STACKS)
		s->budget.running_bits |= UINT32_C(1) << SHED_STACKS;
	if (categories & CATEGORY_SCHED)
		s->budget.running_bits |= UINT32_C(1) << SHED_WAKEUPS;
	budget_begin(&s->budget, clock_boot_ns(), session_read_costs(s), 0);
	session_arm(s->check_fd, BUDGET_CHECK_NS, BUDGET_CHECK_NS);
}

const struct session_shed *session_step(const struct session *s, uint64_t i)
{
	return i < s->n_steps && s->n_steps - i <= SESSION_STEPS_MAX
		       ? &s->steps[i % SESSION_STEPS_MAX]
		       : NULL;
}

size_t session_sheds(const struct session *s, struct session_shed ret[SHED_MAX])
{
	memcpy(ret, s->sheds, s->n_sheds * sizeof(*ret));
	return s->n_sheds;
}
