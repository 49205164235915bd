/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/recorder/budget.h"

/* A single check over the limit may be due to a short burst: the start of a load, or the reading
 * of a command line. */
enum { OVER_MAX = 2 };

/* A part is resumed only if the expected cost, including this part, is at most this share of the
 * limit. Otherwise the next small load would stop it again. */
enum { LOW_NUMERATOR = 3, LOW_DENOMINATOR = 4 };

/* The number of calm periods after which an estimate is halved. */
enum { HALF_LIFE = 4 };

const char *const budget_shed_names[SHED_MAX] = {
	[SHED_STACKS] = "stacks",
	[SHED_WAKEUPS] = "wakeups",
	[SHED_SESSION] = "session",
};

void budget_begin(struct budget *b, uint64_t now_ns, uint64_t cost_ns, uint64_t work)
{
	b->check_ns = now_ns;
	b->cost_ns = cost_ns;
	b->work = work;
	b->n_over = 0;
	b->calm_ns = 0;
	b->begun = true;
}

/* Returns the growth per second of a count that grew from BEFORE to NOW in GONE_NS. */
static uint64_t budget_in_a_second(uint64_t before, uint64_t now, uint64_t gone_ns)
{
	return now > before ? (uint64_t)((double)(now - before) * 1e9 / (double)gone_ns) : 0;
}

/* Returns the running part that matters least. */
static enum budget_shed budget_next_to_shed(const struct budget *b)
{
	enum budget_shed i = 0;

	while (i < SHED_MAX && !(b->running_bits >> i & 1))
		i++;
	return i;
}

/* Returns the stopped part that matters most. */
static enum budget_shed budget_next_to_return(const struct budget *b)
{
	for (enum budget_shed i = SHED_MAX; i-- > 0;)
		if (b->shed_bits >> i & 1)
			return i;
	return SHED_MAX;
}

static uint64_t budget_calm_needed(const struct budget_stage *stage)
{
	return stage->calm_ns ? stage->calm_ns : BUDGET_CALM_NS;
}

static void budget_shed_part(struct budget *b, enum budget_shed what, uint64_t now_ns)
{
	struct budget_stage *stage = &b->stages[what];
	bool soon = stage->back_ns && now_ns < stage->back_ns + BUDGET_SOON_NS;

	b->running_bits &= ~(UINT32_C(1) << what);
	b->shed_bits |= UINT32_C(1) << what;
	stage->calm_ns = soon ? 2 * budget_calm_needed(stage) : BUDGET_CALM_NS;
	if (stage->calm_ns > BUDGET_CALM_NS_MAX)
		stage->calm_ns = BUDGET_CALM_NS_MAX;
	stage->saved_ppm = b->ppm;
	stage->work = b->rate;
	stage->gone_ns = now_ns;
	b->measures = true;
}

static void budget_return_part(struct budget *b, enum budget_shed what, uint64_t now_ns)
{
	b->shed_bits &= ~(UINT32_C(1) << what);
	b->running_bits |= UINT32_C(1) << what;
	b->stages[what].back_ns = now_ns;
	b->measures = false;
	b->calm_ns = 0;
}

void budget_failed(struct budget *b, enum budget_shed what, uint64_t now_ns)
{
	uint64_t saved_ppm = b->stages[what].saved_ppm, work = b->stages[what].work;

	budget_shed_part(b, what, now_ns);
	b->measures = false;
	b->stages[what].saved_ppm = saved_ppm;
	b->stages[what].work = work;
}

/* Measures how much the last stop has saved, in the first second after it. */
static void budget_measure(struct budget *b)
{
	enum budget_shed last = budget_next_to_return(b);

	if (!b->measures || last == SHED_MAX)
		return;
	b->measures = false;
	b->stages[last].saved_ppm =
		b->stages[last].saved_ppm > b->ppm ? b->stages[last].saved_ppm - b->ppm : 0;
}

/*
 * Returns the expected cost of STAGE: its former cost, scaled to the current work of the machine.
 * An older estimate counts less: costs that do not depend on switches, such as those of
 * allocations, can only be determined by trying.
 */
static double budget_estimate(const struct budget *b, const struct budget_stage *stage,
			      uint64_t now_ns)
{
	uint64_t halvings = (now_ns - stage->gone_ns) / (HALF_LIFE * budget_calm_needed(stage));

	if (stage->work == 0 || b->rate == 0 || halvings > 62)
		return 0;
	return (double)stage->saved_ppm * (double)b->rate / (double)stage->work /
	       (double)(UINT64_C(1) << halvings);
}

/* Returns true if WHAT can be resumed now. GONE_NS is the time since the last check. */
static bool budget_may_return(struct budget *b, enum budget_shed what, uint64_t now_ns,
			      uint64_t gone_ns)
{
	const struct budget_stage *stage = &b->stages[what];
	double low_ppm = (double)b->limit_ppm * LOW_NUMERATOR / LOW_DENOMINATOR;
	bool tried = now_ns >= stage->gone_ns + BUDGET_CALM_NS_MAX;

	if ((double)b->ppm + (tried ? 0 : budget_estimate(b, stage, now_ns)) > low_ppm) {
		b->calm_ns = 0;
		return false;
	}
	b->calm_ns += gone_ns;
	/* Checks are not exactly on time, so half an interval may be missing. */
	return b->calm_ns + BUDGET_CHECK_NS / 2 >=
	       (tried ? BUDGET_CALM_NS : budget_calm_needed(stage));
}

enum budget_act budget_check(struct budget *b, uint64_t now_ns, uint64_t cost_ns, uint64_t work,
			     enum budget_shed *ret)
{
	uint64_t gone_ns = now_ns - b->check_ns;

	/* A check soon after a late check is not representative, so it is skipped. */
	if (!b->begun || now_ns < b->check_ns || gone_ns < BUDGET_CHECK_NS / 2)
		return BUDGET_STAY;
	b->ppm = budget_in_a_second(b->cost_ns, cost_ns, gone_ns) / 1000;
	b->rate = b->work ? budget_in_a_second(b->work, work, gone_ns) : 0;
	b->check_ns = now_ns;
	b->cost_ns = cost_ns;
	b->work = work;
	budget_measure(b);
	if (b->limit_ppm == 0 || b->ppm <= b->limit_ppm) {
		b->n_over = 0;
		*ret = budget_next_to_return(b);
		if (b->limit_ppm == 0 || *ret == SHED_MAX ||
		    !budget_may_return(b, *ret, now_ns, gone_ns))
			return BUDGET_STAY;
		budget_return_part(b, *ret, now_ns);
		return BUDGET_RETURN;
	}
	b->calm_ns = 0;
	*ret = budget_next_to_shed(b);
	if (++b->n_over < OVER_MAX || *ret == SHED_MAX)
		return BUDGET_STAY;
	b->n_over = 0;
	budget_shed_part(b, *ret, now_ns);
	return BUDGET_SHED;
}
