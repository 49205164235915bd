/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/options.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"
#include "base/text.h"

const struct category_row category_rows[] = {
	{ "sched", CATEGORY_SCHED, "context switches, wakeups, migrations",
	  "48 bytes and about a quarter of a microsecond an event" },
	{ "irq", CATEGORY_IRQ, "handlers of hardware interrupts",
	  "about 70 bytes and a third of a microsecond an interrupt" },
	{ "softirq", CATEGORY_SOFTIRQ, "softirqs: timers, network, block devices, RCU, ...",
	  "40 bytes and about a fifth of a microsecond a softirq" },
	{ "workqueue", CATEGORY_WORKQUEUE, "work items that kernel workers run",
	  "40 bytes and about half a microsecond a work item" },
	{ "power", CATEGORY_POWER, "idle states and frequencies of CPUs",
	  "48 bytes and about a third of a microsecond a stay in an idle state" },
	{ "counters", CATEGORY_COUNTERS,
	  "memory, load, pressure and CPU frequencies, sampled (--counter-interval)",
	  "half a KiB and about 0.15 ms of CPU time a sample, in the recorder" },
	{ "profile", CATEGORY_PROFILE, "call stacks of what runs, sampled (-F)",
	  "about 200 bytes and 4 to 9 microseconds a sample" },
	{ "offcpu", CATEGORY_OFFCPU,
	  "call stacks of threads that were away from a CPU for long (--offcpu-min)",
	  "about 300 bytes a time; under a microsecond a switch, a sixth of one a wakeup" },
	{ "memory", CATEGORY_MEMORY,
	  "what chosen processes allocate and do not free, with call stacks (-p, ...)",
	  "2 to 4 microseconds an allocation with its free; 80 bytes of a block that lives" },
	{ "fd", CATEGORY_FD, "file descriptors that chosen processes open and do not close",
	  "0.15 microseconds any system call of anyone; 0.5 to 4 one about descriptors" },
	{ "shm", CATEGORY_SHM, "mappings and shared memory that chosen processes keep",
	  "likewise, with fd for both: 0.15 microseconds any call; 0.8 one about them" },
	{ "threads", CATEGORY_THREADS, "threads of chosen processes that end and are not joined",
	  "a few microseconds a thread" },
	{ 0 },
};

const char *const session_mode_names[SESSION_MODE_MAX] = {
	[SESSION_STREAM] = "stream",
	[SESSION_FLIGHT] = "flight",
};

const char *const memory_reach_names[MEMORY_REACH_MAX] = {
	[MEMORY_REACH_NO] = "no",
	[MEMORY_REACH_LOOK] = "look",
	[MEMORY_REACH_FREEZE] = "freeze",
};

#define LIMIT(name, unit, member, min, max)                                                        \
	{                                                                                          \
		name, unit, offsetof(struct trigger_options, member), min, max                     \
	}

const struct trigger_row trigger_rows[] = {
	LIMIT("wakeup", TRIGGER_NS, wakeup_ns, TRIGGER_NS_MIN, TRIGGER_NS_MAX),
	LIMIT("offcpu", TRIGGER_NS, offcpu_ns, TRIGGER_NS_MIN, TRIGGER_NS_MAX),
	LIMIT("pressure_cpu", TRIGGER_PPM, pressure_ppm[0], 1, TRIGGER_PPM_MAX),
	LIMIT("pressure_memory", TRIGGER_PPM, pressure_ppm[1], 1, TRIGGER_PPM_MAX),
	LIMIT("pressure_io", TRIGGER_PPM, pressure_ppm[2], 1, TRIGGER_PPM_MAX),
	LIMIT("leak", TRIGGER_BYTES, leak_bytes, TRIGGER_BYTES_MIN, TRIGGER_BYTES_MAX),
	LIMIT("interval", TRIGGER_NS, interval_ns, TRIGGER_INTERVAL_NS_MIN,
	      TRIGGER_INTERVAL_NS_MAX),
	{ 0 },
};

static const char *const trigger_units[] = {
	[TRIGGER_NS] = "ns",
	[TRIGGER_PPM] = "ppm",
	[TRIGGER_BYTES] = "B",
};

const struct trigger_row *trigger_row_of(const char *name, size_t n)
{
	for (const struct trigger_row *row = trigger_rows; row->name; row++)
		if (strlen(row->name) == n && memcmp(row->name, name, n) == 0)
			return row;
	return NULL;
}

bool triggers_wanted(const struct trigger_options *o)
{
	return o->wakeup_ns || o->offcpu_ns || o->pressure_ppm[0] || o->pressure_ppm[1] ||
	       o->pressure_ppm[2] || o->leak_bytes;
}

int categories_parse(const char *text, uint32_t *ret, const char **reterr_word,
		     size_t *reterr_bytes)
{
	uint32_t bits = 0;

	for (;;) {
		size_t n = strcspn(text, ",");
		const struct category_row *row = category_rows;

		while (row->name && (strlen(row->name) != n || memcmp(row->name, text, n) != 0))
			row++;
		if (!row->name) {
			if (reterr_word)
				*reterr_word = text;
			if (reterr_bytes)
				*reterr_bytes = n;
			return -EINVAL;
		}
		bits |= row->bit;
		if (text[n] == '\0')
			break;
		text += n + 1;
	}
	*ret = bits;
	return 0;
}

char *categories_format(char ret[static CATEGORIES_TEXT_MAX], uint32_t categories)
{
	size_t used = 0;

	*ret = '\0';
	for (const struct category_row *row = category_rows; row->name; row++)
		if (categories & row->bit)
			used += (size_t)snprintf(ret + used, CATEGORIES_TEXT_MAX - used, "%s%s",
						 used ? "," : "", row->name);
	return ret;
}

bool capture_filter_is_set(const struct capture_filter *f)
{
	return f->n_pids || f->n_uids || f->n_comms || f->n_cgroups;
}

const char *categories_refused(uint32_t categories, const struct capture_filter *f)
{
	if (categories & CATEGORIES_MEMORY && !capture_filter_is_set(f))
		return "what programs allocate is recorded of chosen processes only: a filter is "
		       "needed, by process, name, user, unit or cgroup";
	return NULL;
}

const char *flight_options_refused(const struct session_options *o)
{
	if (o->mode != SESSION_FLIGHT)
		return o->flight_ns || o->flight_bytes
			       ? "how much is kept can be said of mode 'flight' only"
			       : NULL;
	if (o->max_bytes)
		return "mode 'flight' keeps the last bytes, and does not end at a size";
	if (o->rotate_ns || o->rotate_bytes)
		return "mode 'flight' has no chunks to begin a new one of";
	return NULL;
}

bool session_options_filtered(const struct session_options *o)
{
	return o->own || capture_filter_is_set(&o->filter);
}

void session_options_set_own(struct session_options *o, uint32_t uid)
{
	const struct passwd *user = uid == 0 ? NULL : getpwuid(uid);
	gid_t gids[OWN_GIDS_MAX];
	int n = OWN_GIDS_MAX;

	o->own = true;
	o->own_uid = uid;
	o->n_own_gids = 0;
	if (!user)
		return;
	/* (of more than there is room for the first ones are told) */
	if (getgrouplist(user->pw_name, user->pw_gid, gids, &n) < 0)
		n = OWN_GIDS_MAX;
	for (int i = 0; i < n; i++)
		o->own_gids[o->n_own_gids++] = gids[i];
}

const char *session_options_own_refused(const struct session_options *o)
{
	if (o->own && o->categories & CATEGORIES_NOT_OWN)
		return "irq, softirq, workqueue, power and counters are about the whole machine, and "
		       "not to be had where only one's own processes are recorded";
	if (o->own && o->memory.triage)
		return "processes that grow are looked for among all, not among one's own only";
	for (size_t i = 0; o->own && i < ARRAY_SIZE(o->triggers.pressure_ppm); i++)
		if (o->triggers.pressure_ppm[i])
			return "pressure is about the whole machine: no trigger for it where only "
			       "one's own processes are recorded";
	return NULL;
}

/* What triggers look at has to be recorded, unless it is 0: then it is the default that is. */
static const char *triggers_refused(const struct session_options *o)
{
	const struct trigger_options *t = &o->triggers;

	if ((t->wakeup_ns || t->offcpu_ns) && o->categories && !(o->categories & CATEGORY_SCHED))
		return "triggers on wakeups and times off CPU are seen in the schedule: add 'sched' to "
		       "the categories";
	if (t->leak_bytes && !(o->categories & CATEGORY_MEMORY))
		return "a trigger on leaks looks at the memory of processes: add 'memory' to the "
		       "categories";
	return NULL;
}

const char *session_options_refused(const struct session_options *o)
{
	const char *refused = flight_options_refused(o) ?: session_options_own_refused(o)
							  ?: triggers_refused(o);

	if (refused)
		return refused;
	if (!o->memory.triage)
		return o->own ? NULL : categories_refused(o->categories, &o->filter);
	if (!(o->categories & CATEGORY_MEMORY))
		return "processes that grow are looked for to watch their memory: add 'memory' to "
		       "the categories";
	if (capture_filter_is_set(&o->filter))
		return "processes that grow are looked for among all: no filter is possible";
	return NULL;
}

void session_options_fill_flight(struct session_options *o)
{
	if (o->mode != SESSION_FLIGHT)
		return;
	if (o->flight_bytes == 0 && o->flight_ns == 0)
		o->flight_ns = FLIGHT_NS_DEFAULT;
	if (o->flight_bytes == 0)
		o->flight_bytes = FLIGHT_BYTES_DEFAULT;
}

static bool memory_options_valid(const struct memory_options *o)
{
	return o->blocks_max >= MEMORY_BLOCKS_MIN && o->blocks_max <= MEMORY_BLOCKS_MAX &&
	       o->interval <= MEMORY_INTERVAL_MAX && o->min_bytes <= MEMORY_SIZE_MAX &&
	       o->usage_interval_ns >= USAGE_NS_MIN && o->usage_interval_ns <= USAGE_NS_MAX &&
	       o->triage_interval_ns >= TRIAGE_NS_MIN && o->triage_interval_ns <= TRIAGE_NS_MAX &&
	       o->reach < MEMORY_REACH_MAX && o->n_allocator_fds <= ALLOCATOR_FILES_MAX;
}

static bool chunks_valid(const struct session_options *o)
{
	if (o->mode == SESSION_FLIGHT)
		return o->rotate_ns == 0 && o->rotate_bytes == 0 &&
		       o->flight_bytes >= FLIGHT_BYTES_MIN && o->flight_bytes <= FLIGHT_BYTES_MAX;
	return o->mode < SESSION_MODE_MAX && (o->rotate_ns == 0 || o->rotate_ns >= ROTATE_NS_MIN) &&
	       (o->rotate_bytes == 0 || o->rotate_bytes >= ROTATE_BYTES_MIN);
}

static bool options_valid(const struct session_options *o)
{
	return session_name_valid(o->name) && o->flush_ns >= FLUSH_NS_MIN &&
	       o->flush_ns <= FLUSH_NS_MAX && o->counter_interval_ns >= COUNTER_NS_MIN &&
	       o->counter_interval_ns <= COUNTER_NS_MAX && o->frequency <= FREQUENCY_MAX &&
	       o->offcpu_min_ns >= OFFCPU_NS_MIN && o->offcpu_min_ns <= OFFCPU_NS_MAX &&
	       o->ring_bytes <= RING_BYTES_MAX &&
	       (o->ring_bytes == 0 || o->ring_bytes >= RING_BYTES_MIN) &&
	       (o->max_overhead_ppm == 0 || o->max_overhead_ppm >= OVERHEAD_PPM_MIN) &&
	       o->max_overhead_machine_ppm <= OVERHEAD_MACHINE_PPM_MAX &&
	       o->compress < PACK_METHOD_MAX && chunks_valid(o) &&
	       memory_options_valid(&o->memory) && !session_options_refused(o) &&
	       o->filter.n_pids <= FILTER_PIDS_MAX && o->filter.n_uids <= FILTER_VALUES_MAX &&
	       o->filter.n_comms <= FILTER_VALUES_MAX && o->filter.n_cgroups <= FILTER_CGROUPS_MAX;
}

/* What PPM is, in a range. */
static int take_share(double ppm, uint64_t min, uint64_t max, const char *range, uint64_t *ret,
		      const char *text, char *why)
{
	if (!(ppm + 0.5 >= (double)min && ppm <= (double)max)) {
		snprintf(why, VALUE_WHY_MAX, "'%.80s' is out of range: %s", text, range);
		return -EINVAL;
	}
	*ret = (uint64_t)(ppm + 0.5);
	return 0;
}

int session_options_take_overhead(struct session_options *o, const char *text,
				  char why[static VALUE_WHY_MAX])
{
	char *end = NULL;
	double n = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;

	o->max_overhead_ppm = o->max_overhead_machine_ppm = 0;
	if (end && (*end == '\0' || strcmp(end, "%") == 0))
		return take_share(n * 1e4, OVERHEAD_MACHINE_PPM_MIN, OVERHEAD_MACHINE_PPM_MAX,
				  "0.01% to 100% of the machine's CPU time; say 1.5cpu for one "
				  "and a half CPUs",
				  &o->max_overhead_machine_ppm, text, why);
	if (end && (strcmp(end, "cpu") == 0 || strcmp(end, "cpus") == 0))
		return take_share(n * 1e6, OVERHEAD_PPM_MIN, OVERHEAD_PPM_MAX,
				  "0.001cpu to 1000cpu", &o->max_overhead_ppm, text, why);
	snprintf(why, VALUE_WHY_MAX,
		 "'%.80s' is no share of CPU time; say 2%% (of the machine's) or 0.5cpu", text);
	return -EINVAL;
}

int session_options_complete(struct session_options *o)
{
	session_options_fill_flight(o);
	if (o->flush_ns == 0)
		o->flush_ns = FLUSH_NS_DEFAULT;
	if (o->categories == 0)
		o->categories = CATEGORIES_DEFAULT;
	if (o->frequency == 0)
		o->frequency = FREQUENCY_DEFAULT;
	if (o->offcpu_min_ns == 0)
		o->offcpu_min_ns = OFFCPU_NS_DEFAULT;
	if (o->counter_interval_ns == 0)
		o->counter_interval_ns = COUNTER_NS_DEFAULT;
	if (o->triggers.interval_ns == 0)
		o->triggers.interval_ns = TRIGGER_INTERVAL_NS_DEFAULT;
	if (o->memory.blocks_max == 0)
		o->memory.blocks_max = MEMORY_BLOCKS_DEFAULT;
	if (o->memory.usage_interval_ns == 0)
		o->memory.usage_interval_ns = USAGE_NS_DEFAULT;
	if (o->memory.triage_interval_ns == 0)
		o->memory.triage_interval_ns = TRIAGE_NS_DEFAULT;
	return options_valid(o) ? 0 : -EINVAL;
}

void session_options_deinit(struct session_options *o)
{
	for (size_t i = 0; i < o->memory.n_allocator_fds; i++)
		close_passed_fd(o->memory.allocator_fds[i]);
	free(o->memory.allocator_fds);
	free(o->command);
	free(o->filter.pids);
	free(o->filter.uids);
	free(o->filter.comms);
	free(o->filter.cgroups);
	*o = (struct session_options){ 0 };
}

static void *copy_of(const void *p, size_t n, int *reterr)
{
	void *copy = n ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, p, n);
	else if (n)
		*reterr = -ENOMEM;
	return copy;
}

/* Descriptors of RET's own for those of O. Returns 0, or -1 with errno set. */
static int copy_descriptors(struct memory_options *ret, const struct memory_options *o)
{
	ret->allocator_fds = NULL;
	ret->n_allocator_fds = 0;
	if (o->n_allocator_fds == 0)
		return 0;
	ret->allocator_fds = calloc(o->n_allocator_fds, sizeof(*ret->allocator_fds));
	if (!ret->allocator_fds)
		return -1;
	for (size_t i = 0; i < o->n_allocator_fds; i++) {
		ret->allocator_fds[i] = foreign_fds_dup(o->allocator_fds[i]);
		if (ret->allocator_fds[i] < 0)
			return -1;
		ret->n_allocator_fds++;
	}
	return 0;
}

int session_options_copy(struct session_options *ret, const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;
	int r = 0;

	*ret = *o;
	ret->command = copy_of(o->command, o->command ? strlen(o->command) + 1 : 0, &r);
	ret->filter.pids = copy_of(f->pids, f->n_pids * sizeof(*f->pids), &r);
	ret->filter.uids = copy_of(f->uids, f->n_uids * sizeof(*f->uids), &r);
	ret->filter.comms = copy_of(f->comms, f->n_comms * sizeof(*f->comms), &r);
	ret->filter.cgroups = copy_of(f->cgroups, f->n_cgroups * sizeof(*f->cgroups), &r);
	if (copy_descriptors(&ret->memory, &o->memory) < 0)
		r = -errno;
	if (r < 0)
		session_options_deinit(ret);
	return r;
}

bool session_options_splits(const struct session_options *o)
{
	return o->mode == SESSION_FLIGHT || o->rotate_ns || o->rotate_bytes;
}

bool session_name_valid(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n >= 1 && n <= 64 && name[n] == '\0';
}

/* What is watched, into TEXT of SIZE bytes. */
static void describe_memory(char *text, size_t size, const struct session_options *o)
{
	const struct memory_options *m = &o->memory;
	char interval[TEXT_FORMAT_MAX], least[TEXT_FORMAT_MAX], usage[TEXT_FORMAT_MAX];
	char triage[TEXT_FORMAT_MAX];

	*text = '\0';
	if (!(o->categories & CATEGORIES_MEMORY))
		return;
	snprintf(text, size, " usage=%s blocks_max=%" PRIu64 "%s%s%s%s%s%s%s%s%s",
		 text_format_time(usage, m->usage_interval_ns), m->blocks_max, m->log ? " log" : "",
		 m->interval ? " interval=" : "",
		 m->interval ? text_format_size(interval, m->interval) : "",
		 m->min_bytes ? " min=" : "",
		 m->min_bytes ? text_format_size(least, m->min_bytes) : "",
		 m->reach ? " reach=" : "", m->reach ? memory_reach_names[m->reach] : "",
		 m->triage ? " triage=" : "",
		 m->triage ? text_format_time(triage, m->triage_interval_ns) : "");
}

/* What is kept, likewise. */
static void describe_flight(char *text, size_t size, const struct session_options *o)
{
	char time[TEXT_FORMAT_MAX], bytes[TEXT_FORMAT_MAX];

	*text = '\0';
	if (o->mode == SESSION_FLIGHT)
		snprintf(text, size, " mode=flight keep=%s keep_size=%s",
			 o->flight_ns ? text_format_time(time, o->flight_ns) : "all",
			 text_format_size(bytes, o->flight_bytes));
}

/* What it may cost, and what it waits for, into TEXT of SIZE bytes. */
static void describe_limits(char *text, size_t size, const struct session_options *o)
{
	struct trigger_options t = o->triggers;
	size_t used = 0;

	*text = '\0';
	if (o->max_overhead_ppm)
		used = (size_t)snprintf(text, size, " max_overhead_ppm=%" PRIu64,
					o->max_overhead_ppm);
	if (o->max_overhead_machine_ppm)
		used += (size_t)snprintf(text + used, size - used,
					 " max_overhead_machine_ppm=%" PRIu64,
					 o->max_overhead_machine_ppm);
	if (!triggers_wanted(&t))
		return;
	for (const struct trigger_row *row = trigger_rows; row->name && used < size; row++) {
		uint64_t value = *trigger_limit(&t, row);

		if (value)
			used += (size_t)snprintf(text + used, size - used,
						 " trigger_%s=%" PRIu64 "%s", row->name, value,
						 trigger_units[row->unit]);
	}
}

char *session_options_describe(const struct session_options *o)
{
	char ring[TEXT_FORMAT_MAX], flush[TEXT_FORMAT_MAX], interval[TEXT_FORMAT_MAX];
	char categories[CATEGORIES_TEXT_MAX], frequency[24], least[TEXT_FORMAT_MAX], *text;
	char memory[7 * TEXT_FORMAT_MAX + 80], flight[2 * TEXT_FORMAT_MAX + 40], limits[512];
	bool usual = o->categories == CATEGORIES_DEFAULT || o->categories == 0;
	bool counters = o->categories & CATEGORY_COUNTERS, offcpu = o->categories & CATEGORY_OFFCPU;

	describe_memory(memory, sizeof(memory), o);
	describe_limits(limits, sizeof(limits), o);
	describe_flight(flight, sizeof(flight), o);
	snprintf(frequency, sizeof(frequency), "%" PRIu64, o->frequency);
	if (asprintf(&text,
		     "ring=%s flush=%s duration_ns=%" PRIu64 " max_bytes=%" PRIu64
		     "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s",
		     text_format_size(ring, o->ring_bytes), text_format_time(flush, o->flush_ns),
		     o->duration_ns, o->max_bytes, o->compress ? " compress=" : "",
		     pack_ops(o->compress)->name, usual ? "" : " categories=",
		     usual ? "" : categories_format(categories, o->categories),
		     counters ? " counters=" : "",
		     counters ? text_format_time(interval, o->counter_interval_ns) : "",
		     o->categories & CATEGORY_PROFILE ? " frequency=" : "",
		     o->categories & CATEGORY_PROFILE ? frequency : "",
		     offcpu ? " offcpu_min=" : "",
		     offcpu ? text_format_time(least, o->offcpu_min_ns) : "",
		     o->no_perfetto_blobs ? " no_perfetto_blobs" : "", o->own ? " own" : "", memory,
		     flight, limits) < 0)
		return NULL;
	return text;
}
