/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/memory.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/outbuf.h"
#include "capture/allocator-cache.h"
#include "capture/armed.h"
#include "capture/listed.h"
#include "capture/memory-reach.h"
#include "capture/proc.h"
#include "capture/resource-lists.h"

enum { ENDED_MANY = 256 }; /* images that have ended: not to be kept waiting */

#define MS_NS UINT64_C(1000000)

/* For all processes together, at the end. */
#define SEARCH_NS_MAX UINT64_C(60000000000)

/* A new program maps its libraries after exec, step by step. */
static const uint64_t looks_ns[] = { MS_NS, 3 * MS_NS, 10 * MS_NS, 30 * MS_NS, 100 * MS_NS };

struct memory {
	const struct session_options *options;
	struct collector *collector;
	struct collector_memory own; /* maps and programs, the collector's */
	struct memory_sink sink;
	struct memory_tables tables;
	struct allocator_cache *cache;
	struct arming arming;
	struct ring_buffer *happenings;
	struct table processes; /* pid + 1 -> struct armed, owned */
	struct table images;    /* instance -> struct memory_image, owned */
	uint64_t next_usage_ns; /* CLOCK_MONOTONIC */
	uint64_t unheard;       /* as of the last look */
	unsigned n_ended;       /* heard of, and not read */
	struct outbuf going;    /* struct probes *, owned: to be detached, of those who are gone */
	int error;              /* of the sink: it wants no more */
	bool stopping;          /* nothing is attached any more */
};

/* ---- what is said ---- */

static int emit(struct memory *m, const struct rec_head *rec)
{
	if (m->error == 0)
		m->error = m->sink.emit(rec, m->sink.userdata);
	return m->error;
}

static struct armed *armed_of(const struct memory *m, uint32_t pid)
{
	return table_get(&m->processes, (uint64_t)pid + 1);
}

/* Whether another program of the same process has not been said to have ended: it is, before IMAGE begins. */
static bool has_earlier(const struct memory *m, const struct memory_image *image)
{
	const struct memory_image *other;
	size_t pos = 0;

	while ((other = table_next(&m->images, &pos)))
		if (other->process.pid == image->process.pid &&
		    other->process.instance < image->process.instance)
			return true;
	return false;
}

/* Says, once, that IMAGE is watched. */
static int announce(struct memory *m, struct memory_image *image)
{
	const struct armed *armed = armed_of(m, image->process.pid);
	struct rec_watch rec = {
		.head = {
			.ts_ns = image->process.since_ns,
			.size = sizeof(rec),
			.kind = REC_WATCH,
			.pid = image->process.pid,
			.tid = image->process.pid,
		},
		.instance = image->process.instance,
		.complete = image->complete,
	};

	if (image->announced || has_earlier(m, image))
		return 0;
	image->announced = true;
	if (armed)
		armed_describe(armed, image->allocators, sizeof(image->allocators));
	memcpy(rec.allocators, image->allocators, sizeof(rec.allocators));
	return emit(m, &rec.head);
}

/* Whether all is known that is to be said of IMAGE: of a new program, what it loads. */
static bool is_ready(const struct memory *m, const struct memory_image *image)
{
	const struct armed *armed = armed_of(m, image->process.pid);

	return image->ended || !armed || armed->instance != image->process.instance ||
	       !armed->next_look_ns;
}

static int announce_ready(struct memory *m)
{
	struct memory_image *image;
	size_t pos = 0;
	int r = 0;

	while (r == 0 && (image = table_next(&m->images, &pos)))
		if (is_ready(m, image))
			r = announce(m, image);
	return r;
}

static int say_watched(struct memory *m, const struct memory_image *image, uint64_t ts_ns)
{
	const struct memory_process *p = &image->process;
	const struct rec_watched rec = {
		.head = {
			.ts_ns = p->ended_ns ? p->ended_ns : ts_ns,
			.size = sizeof(rec),
			.kind = REC_WATCHED,
			.pid = p->pid,
			.tid = p->pid,
		},
		.instance = p->instance,
		.reason = p->flags & MEMORY_PROCESS_EXECED ? WATCHED_EXEC
			  : p->ended_ns                    ? WATCHED_EXIT
							   : WATCHED_STOP,
		.unmatched = p->unmatched,
		.failed = p->failed,
		.lost = p->lost,
		.full = p->full,
		.no_stack = p->no_stack,
	};

	return emit(m, &rec.head);
}

/* ---- images ---- */

/* The image of P, made if it is not known. */
static struct memory_image *image_of(struct memory *m, const struct memory_process *p)
{
	struct memory_image *image = table_get(&m->images, p->instance);

	if (image)
		return image;
	image = calloc(1, sizeof(*image));
	if (!image || table_set(&m->images, p->instance, image) < 0) {
		free(image);
		return NULL;
	}
	image->process = *p;
	return image;
}

static void image_free(struct memory_image *image)
{
	memory_reach_deinit(image);
	free(image);
}

static void forget_armed(struct memory *m, struct armed *armed)
{
	table_remove(&m->processes, (uint64_t)armed->pid + 1);
	armed_free(armed, &m->going);
}

/* What has been forgotten is detached. */
static void detach_forgotten(struct memory *m)
{
	struct outbuf going = m->going;

	m->going = (struct outbuf){ 0 };
	probes_free_all((struct probes **)going.data, going.size / sizeof(struct probes *));
	outbuf_deinit(&going);
}

static bool is_watched(const struct memory *m, uint32_t pid)
{
	struct memory_process process;

	return bpf_map_lookup_elem(m->own.processes_fd, &pid, &process) == 0;
}

static int on_ended(const void *key, const void *value, void *userdata)
{
	struct memory_process process;
	struct memory *m = userdata;
	struct memory_image *image;

	(void)key;
	memcpy(&process, value, sizeof(process));
	image = image_of(m, &process);
	if (!image)
		return -ENOMEM;
	image->process = process;
	image->ended = true;
	return 0;
}

/* What has ended is out of the tables: it goes here, too. */
static void drop_ended(struct memory *m)
{
	struct memory_image *image;
	struct armed *armed;
	size_t pos = 0;

	while ((image = table_next(&m->images, &pos))) {
		uint32_t instance = image->process.instance;

		if (!image->ended)
			continue;
		bpf_map_delete_elem(m->own.ended_fd, &instance);
		armed = armed_of(m, image->process.pid);
		if (armed && armed->instance == instance && !is_watched(m, armed->pid))
			forget_armed(m, armed);
		table_remove(&m->images, instance);
		image_free(image);
		pos = 0; /* the table has moved */
	}
	detach_forgotten(m);
}

/* Those that have ended after another one of their process, which is told of first, wait. */
static void put_off(struct memory *m)
{
	struct memory_image *image;
	size_t pos = 0;

	while ((image = table_next(&m->images, &pos)))
		if (image->ended && has_earlier(m, image)) {
			image->ended = false;
			image->waits = true;
		}
}

/* Returns whether there are any. */
static bool put_on(struct memory *m)
{
	struct memory_image *image;
	size_t pos = 0;
	bool any = false;

	while ((image = table_next(&m->images, &pos))) {
		any |= image->waits;
		image->ended |= image->waits;
		image->waits = false;
	}
	return any;
}

/* Says all about images that have ended, one of each process, and lets them go. */
static int finish_first(struct memory *m, uint64_t ts_ns)
{
	const struct memory_image *image;
	size_t pos = 0;
	int r = announce_ready(m);

	if (r == 0)
		r = memory_tables_usage(&m->tables, &m->images, ts_ns, &m->sink);
	if (r == 0)
		r = memory_tables_snapshot(&m->tables, &m->images, ts_ns, &m->sink);
	while (r == 0 && (image = table_next(&m->images, &pos)))
		r = image->ended ? say_watched(m, image, ts_ns) : 0;
	if (r == 0)
		r = memory_tables_forget(&m->tables, &m->images);
	if (r == 0)
		drop_ended(m);
	return r;
}

/* Says all about the images that have ended, and lets them go. */
static int finish_ended(struct memory *m, uint64_t ts_ns)
{
	const struct memory_map map = { m->own.ended_fd, sizeof(uint32_t),
					sizeof(struct memory_process) };
	const struct memory_image *image;
	size_t pos = 0;
	bool any = false;
	int r = memory_map_each(&map, on_ended, m);

	while ((image = table_next(&m->images, &pos)))
		any |= image->ended;
	m->n_ended = 0;
	while (r == 0 && any) {
		put_off(m);
		r = finish_first(m, ts_ns);
		any = put_on(m);
	}
	return r;
}

/* ---- own processes ---- */

/* With the rights that we have, only the user's own processes are looked at; the programs say which ones are. */
static bool may_look(const struct memory *m, uint32_t pid, struct rec_task *ret)
{
	return !m->options->own || listed_now(m->collector, pid, ret);
}

/* Whether what has been found since may_look() is of that program. */
static bool was_same(const struct memory *m, const struct rec_task *before)
{
	struct rec_task now;

	return !m->options->own ||
	       (listed_now(m->collector, before->task.tid, &now) && listed_same(before, &now));
}

/* ---- arming ---- */

static struct armed *make_armed(struct memory *m, uint32_t pid)
{
	struct armed *armed = calloc(1, sizeof(*armed));

	if (!armed || table_set(&m->processes, (uint64_t)pid + 1, armed) < 0) {
		free(armed);
		return NULL;
	}
	armed->pid = pid;
	return armed;
}

/* Whether process PID has ended, or there is none. */
static bool has_exited(uint32_t pid)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return fd < 0 || poll(&pollfd, 1, 0) > 0;
}

/* It has ended before it could be watched, so that no program has told of that. */
static void end_unseen(struct memory *m, struct armed *armed, struct memory_image *image)
{
	bpf_map_delete_elem(m->own.processes_fd, &armed->pid);
	armed_note(armed, "it ended before it could be watched");
	image->process.ended_ns = clock_boot_ns();
	image->ended = true;
	m->n_ended++;
}

static int keep_record(const struct rec_head *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->size);
}

/* Sends LIST if it is whole, and of one and the same program, where that must be the user's own. */
static int list_whole(struct memory *m, const struct resource_list *list)
{
	_cleanup_(outbuf_deinit) struct outbuf kept = { 0 };
	const struct memory_sink sink = { keep_record, NULL, &kept };
	const struct rec_head *rec;
	struct rec_task program;
	int r = 0;

	if (!may_look(m, list->pid, &program))
		return 0;
	r = resource_list_send(list, &sink);
	/* One that ends would be said to have nothing. */
	if (r < 0 || proc_is_exiting(list->pid) || !was_same(m, &program))
		return r;
	for (size_t at = 0; r == 0 && at < kept.size; at += rec->size) {
		rec = (const struct rec_head *)(kept.data + at);
		r = m->sink.emit(rec, m->sink.userdata);
	}
	return r;
}

/* What the kernel lists of PID, for the books of what it has made. */
static int list_resources(struct memory *m, uint32_t pid, uint32_t instance, bool first)
{
	const struct resource_list list = {
		.pid = pid,
		.instance = instance,
		.categories = m->options->categories,
		.first = first,
		.own = m->options->own,
		.uid = m->options->own_uid,
	};

	if (!(m->options->categories & CATEGORIES_CALLS) || m->error < 0)
		return 0;
	return list_whole(m, &list);
}

/* The probes are in their places: from now on ARMED is watched. */
static int begin(struct memory *m, struct armed *armed)
{
	struct memory_process process = {
		.instance = __atomic_add_fetch(m->own.instances, 1, __ATOMIC_RELAXED),
		.pid = armed->pid,
		.since_ns = clock_boot_ns(),
	};
	struct memory_image *image = image_of(m, &process);
	int r;

	if (!image)
		return -ENOMEM;
	armed->instance = process.instance;
	r = bpf_map_update_elem(m->own.processes_fd, &armed->pid, &process, BPF_NOEXIST);
	if (has_exited(armed->pid))
		end_unseen(m, armed, image);
	else if (r < 0)
		armed_note(armed, "too many processes are watched");
	image->refused = r < 0;
	r = announce(m, image);
	return r < 0 ? r : list_resources(m, armed->pid, armed->instance, true);
}

/* Looks at the files of a process that may be another program by now. True if it is watched. */
static bool look_at_files(struct memory *m, struct armed *armed)
{
	struct memory_process process;
	struct memory_image *image;
	bool watched, had_files = armed->n_files > 0;

	watched = bpf_map_lookup_elem(m->own.processes_fd, &armed->pid, &process) == 0;
	if (watched && process.instance != armed->instance) {
		image = image_of(m, &process);
		if (!image)
			return true;
		armed->instance = process.instance;
		armed->refused[0] = '\0';
		/* Without probes to be placed, system calls are all that there is. */
		image->complete = had_files || !(m->options->categories & CATEGORIES_PROBES);
		list_resources(m, armed->pid, armed->instance, true);
	}
	if (armed_look(armed, &m->arming) == 0 || !watched)
		return watched;
	image = table_get(&m->images, armed->instance);
	if (image)
		image->complete = false;
	return true;
}

/* Likewise. It may be somebody else's by now: then nothing more is to be done. */
static bool look_at(struct memory *m, struct armed *armed)
{
	struct rec_task program;
	bool watched = true;

	if (may_look(m, armed->pid, &program)) {
		watched = look_at_files(m, armed);
		if (was_same(m, &program))
			return watched;
	}
	armed_strip(armed);
	return true;
}

int memory_arm(struct memory *m, uint32_t pid)
{
	struct armed *armed = armed_of(m, pid);

	if (!armed)
		armed = make_armed(m, pid);
	if (!armed)
		return -ENOMEM;
	/* What has ended after it was watched is told of elsewhere. */
	if (look_at(m, armed) || (armed->instance && has_exited(pid)))
		return 0;
	return begin(m, armed);
}

bool memory_watches(const struct memory *m, uint32_t pid)
{
	return armed_of(m, pid) != NULL;
}

void memory_look(struct memory *m, uint32_t pid)
{
	struct armed *armed = armed_of(m, pid);

	if (armed)
		look_at(m, armed);
}

static void look_again(struct memory *m, struct armed *armed, uint64_t now_ns)
{
	struct memory_image *image;
	uint32_t instance;

	armed->next_look_ns = 0;
	if (armed->n_looks < ARRAY_SIZE(looks_ns))
		armed->next_look_ns = now_ns + looks_ns[armed->n_looks++];
	look_at(m, armed);
	if (armed->next_look_ns)
		return;
	/* All about the program that was there before comes first; with that ARMED may go, too. */
	instance = armed->instance;
	finish_ended(m, clock_boot_ns());
	image = table_get(&m->images, instance);
	if (image)
		announce(m, image);
}

/* A child that was not looked at before the end, and may live. */
static void pass_over(struct memory *m, uint32_t pid, uint64_t ts_ns)
{
	struct memory_process process = {
		.instance = __atomic_add_fetch(m->own.instances, 1, __ATOMIC_RELAXED),
		.pid = pid,
		.since_ns = ts_ns,
	};
	struct armed *armed = make_armed(m, pid);
	struct memory_image *image = armed ? image_of(m, &process) : NULL;

	if (!image)
		return;
	armed->instance = process.instance;
	armed_note(armed, "the recording ended before it was watched");
	image->ended = true;
}

static int on_happening(void *userdata, void *data, size_t size)
{
	const struct memory_happened *happened = data;
	struct memory *m = userdata;
	struct armed *armed;

	if (size < sizeof(*happened))
		return 0;
	if (happened->what == MEMORY_HAPPENED_EXIT) {
		m->n_ended++;
		return 0;
	}
	armed = armed_of(m, happened->pid);
	/* Whoever grows is told by somebody else; only exec of those is of interest. */
	if (m->options->memory.triage && (!armed || happened->what != MEMORY_HAPPENED_EXEC))
		return 0;
	if (m->stopping || arming_is_called_off(&m->arming)) {
		if (!armed && happened->what == MEMORY_HAPPENED_FORK)
			pass_over(m, happened->pid, happened->ts_ns);
		return 0;
	}
	/* Of somebody who had this id before. */
	if (armed && happened->what == MEMORY_HAPPENED_FORK)
		forget_armed(m, armed);
	memory_arm(m, happened->pid);
	armed = armed_of(m, happened->pid);
	if (armed && happened->what == MEMORY_HAPPENED_EXEC) {
		armed->n_looks = 0;
		armed->next_look_ns = clock_read_ns(CLOCK_MONOTONIC) + looks_ns[0];
	}
	return 0;
}

/* ---- the worker's side ---- */

int memory_new(const struct session_options *options, struct collector *collector,
	       const struct memory_sink *sink, struct memory **ret)
{
	_cleanup_(memory_freep) struct memory *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->options = options;
	m->collector = collector;
	m->sink = *sink;
	m->own = collector_memory_tables(collector);
	memory_tables_init(&m->tables, m->own.stacks_fd, m->own.blocks_fd);
	r = allocator_cache_new(&m->cache);
	if (r < 0)
		return r;
	m->arming = (struct arming){ options, &m->own, m->cache, &m->sink };
	m->happenings = ring_buffer__new(m->own.happenings_fd, on_happening, m, NULL);
	if (!m->happenings)
		return -errno;
	m->next_usage_ns = clock_read_ns(CLOCK_MONOTONIC) + options->memory.usage_interval_ns;
	*ret = TAKE_PTR(m);
	return 0;
}

static void detach_all(struct memory *m)
{
	struct armed *armed;
	size_t pos = 0;

	while ((armed = table_next(&m->processes, &pos))) {
		forget_armed(m, armed);
		pos = 0;
	}
	detach_forgotten(m);
}

struct memory *memory_free(struct memory *m)
{
	struct memory_image *image;
	size_t pos = 0;

	if (!m)
		return NULL;
	detach_all(m);
	while ((image = table_next(&m->images, &pos)))
		image_free(image);
	table_deinit(&m->images);
	table_deinit(&m->processes);
	memory_tables_deinit(&m->tables);
	allocator_cache_free(m->cache);
	ring_buffer__free(m->happenings);
	free(m);
	return NULL;
}

int memory_fd(const struct memory *m)
{
	return ring_buffer__epoll_fd(m->happenings);
}

void memory_hear(struct memory *m)
{
	ring_buffer__consume(m->happenings);
}

uint64_t memory_next_ns(const struct memory *m)
{
	uint64_t next_ns = m->next_usage_ns;
	const struct armed *armed;
	size_t pos = 0;

	if (m->n_ended >= ENDED_MANY)
		return 0;
	while ((armed = table_next(&m->processes, &pos)))
		if (armed->next_look_ns && armed->next_look_ns < next_ns)
			next_ns = armed->next_look_ns;
	return next_ns;
}

void memory_tick(struct memory *m)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t interval_ns = m->options->memory.usage_interval_ns;
	struct armed *armed;
	size_t pos = 0;

	while ((armed = table_next(&m->processes, &pos))) {
		if (!armed->next_look_ns || armed->next_look_ns > now_ns)
			continue;
		look_again(m, armed, now_ns);
		pos = 0; /* some may have gone */
	}
	if (now_ns < m->next_usage_ns && m->n_ended < ENDED_MANY)
		return;
	finish_ended(m, clock_boot_ns());
	if (now_ns < m->next_usage_ns)
		return;
	announce_ready(m);
	memory_tables_usage(&m->tables, &m->images, clock_boot_ns(), &m->sink);
	m->next_usage_ns += interval_ns * ((now_ns - m->next_usage_ns) / interval_ns + 1);
}

bool memory_has_missed(struct memory *m)
{
	uint64_t unheard = __atomic_load_n(m->own.unheard, __ATOMIC_RELAXED);
	bool missed = unheard != m->unheard;

	m->unheard = unheard;
	return missed;
}

/* Whether the program IMAGE still runs, as *RET. */
static bool runs(const struct memory *m, const struct memory_image *image,
		 struct memory_process *ret)
{
	return bpf_map_lookup_elem(m->own.processes_fd, &image->process.pid, ret) == 0 &&
	       ret->instance == image->process.instance;
}

/* The programs pass PROCESS over from here on; with that, its blocks stay what they are. */
static void stop_image(struct memory *m, struct memory_image *image)
{
	struct memory_process process;
	uint32_t pid = image->process.pid;

	if (!runs(m, image, &process))
		return;
	/* While the books still go on: what comes and goes meanwhile is in them. */
	list_resources(m, pid, process.instance, false);
	bpf_map_delete_elem(m->own.processes_fd, &pid);
	image->process = process;
	image->ended = true;
}

void memory_disarm(struct memory *m, uint32_t pid)
{
	struct armed *armed = armed_of(m, pid);
	struct memory_image *image = armed ? table_get(&m->images, armed->instance) : NULL;

	if (!armed)
		return;
	if (image && !image->ended) {
		announce(m, image);
		stop_image(m, image);
		m->n_ended++;
	}
	forget_armed(m, armed);
}

/* Images of which nobody has told yet. */
static int on_process(const void *key, const void *value, void *userdata)
{
	struct memory_process process;

	(void)key;
	memcpy(&process, value, sizeof(process));
	return image_of(userdata, &process) ? 0 : -ENOMEM;
}

static void choose_living(struct memory *m)
{
	struct memory_process process;
	struct memory_image *image;
	size_t pos = 0;

	while ((image = table_next(&m->images, &pos)))
		image->lives = image->announced && !image->ended && runs(m, image, &process);
}

static void list_living(struct memory *m)
{
	const struct memory_image *image;
	size_t pos = 0;

	while ((image = table_next(&m->images, &pos)))
		if (image->lives)
			list_resources(m, image->process.pid, image->process.instance, false);
}

int memory_snapshot(struct memory *m)
{
	_cleanup_(outbuf_deinit) struct outbuf kept = { 0 };
	uint64_t ts_ns;
	int r;

	ring_buffer__consume(m->happenings);
	r = finish_ended(m, clock_boot_ns());
	if (r == 0)
		r = announce_ready(m);
	if (r < 0)
		return r;
	choose_living(m);
	list_living(m);
	ts_ns = clock_boot_ns();
	/* With each event recorded, what comes and goes while the table is read is said by these. */
	r = memory_tables_keep(&m->tables, &m->images, m->options->memory.log ? ts_ns : UINT64_MAX,
			       &kept);
	if (!m->options->memory.log)
		ts_ns = clock_boot_ns();
	choose_living(m); /* nothing is said of a process after its end */
	/* When the blocks are known: the stacks of all of them are there. */
	if (r == 0)
		r = memory_tables_usage(&m->tables, &m->images, ts_ns, &m->sink);
	return r < 0 ? r : memory_tables_say_kept(&m->images, ts_ns, &kept, &m->sink);
}

/* Which blocks are lost. The probes are still there: what happens to blocks meanwhile is seen. */
static void search_images(struct memory *m)
{
	const struct memory_search how = {
		.collector = m->collector,
		.blocks_fd = m->own.blocks_fd,
		.options = m->options,
		.deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + SEARCH_NS_MAX,
	};
	struct memory_process process;
	struct memory_image *image;
	size_t pos = 0;

	while ((image = table_next(&m->images, &pos))) {
		struct rec_task program;

		if (!runs(m, image, &process) || !may_look(m, process.pid, &program))
			continue;
		image->process = process;
		memory_reach_search(&how, image);
		if (!was_same(m, &program))
			memory_reach_deinit(image);
	}
}

void memory_stop(struct memory *m)
{
	const struct memory_map map = { m->own.processes_fd, sizeof(uint32_t),
					sizeof(struct memory_process) };
	struct memory_image *image;
	size_t pos = 0;

	/* What is waiting there may be a lot, and attaching takes its time. */
	m->stopping = true;
	ring_buffer__consume(m->happenings);
	memory_map_each(&map, on_process, m);
	if (m->options->memory.reach != MEMORY_REACH_NO && m->options->categories & CATEGORY_MEMORY)
		search_images(m);
	while ((image = table_next(&m->images, &pos)))
		stop_image(m, image);
	announce_ready(m); /* with what was attached */
	detach_all(m);
}

/* Those that neither run nor are among those that have ended: the programs had no room to say so. Returns whether there are any. */
static bool end_untold(struct memory *m)
{
	struct memory_image *image;
	size_t pos = 0;
	bool any = false;

	while ((image = table_next(&m->images, &pos))) {
		if (image->ended || image->refused)
			continue;
		image->process.lost++;
		image->ended = true;
		any = true;
	}
	return any;
}

int memory_finish(struct memory *m)
{
	int r = finish_ended(m, clock_boot_ns());

	return r == 0 && end_untold(m) ? finish_ended(m, clock_boot_ns()) : r;
}

void memory_look_all(struct memory *m)
{
	struct armed *armed;
	size_t pos = 0;

	while ((armed = table_next(&m->processes, &pos)))
		look_at(m, armed);
}
