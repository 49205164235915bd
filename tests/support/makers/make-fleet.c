/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make-fleet DIR SEED HOSTS SLICES: writes archives of a simulated fleet into the directory DIR,
 * for the queries of examples/fleet: HOSTS machines with 4 CPUs, each at the same hour of two days,
 * with SLICES slices of CPU time per archive. The same SEED makes the same archives.
 *
 * Every host runs web, db, cache, shop and batch.service. The planted faults:
 *
 *	every 7th host from 3 on   kernel 6.12.9-bad wakes web.service late
 *	every host                 shop uses a third more CPU time on the second day
 *	host 5                     the recorder drops stacks because of their cost, and loses events
 *	every 5th host from 2 on   build bad0... of cache leaks, and spends its time in spin_retry
 *	host 8                     batch.service takes the CPUs, and the others wait
 *	every host                 db.service waits for a lock in commit_log
 *	host 11                    waits for its disk are long
 *	host 13                    starts many short processes
 *	host 14                    the archive of the second day is cut off
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "writer/fxt/fxt-archive.h"

enum { CPUS = 4, STORM = 400, STORM_PID = 10000, PAGE = 4096 };
enum service { WEB, DB, CACHE, SHOP, BATCH, SERVICES };

#define BOOT_NS  UINT64_C(1000000000000)
#define DAY_NS   UINT64_C(86400000000000)
#define FIRST_NS UINT64_C(1764381600000000000) /* 2025-11-29 02:00:00 UTC */
#define US       UINT64_C(1000)
#define MS       UINT64_C(1000000)

static const char *const names[SERVICES] = { "web", "db", "cache", "shop", "batch" };

/* Functions at the addresses of all programs: CODE + PAGE * number. */
enum function { MAIN, SERVE, PARSE, COMMIT_LOG, SPIN_RETRY, FUTEX_WAIT, READ_BLOCK, FUNCTIONS };
static const char *const functions[FUNCTIONS] = { "main",       "serve",      "parse",
						  "commit_log", "spin_retry", "futex_wait",
						  "read_block" };
#define CODE UINT64_C(0x400000)

/* A CPU: the service whose thread is woken, runs, or has run. */
struct cpu {
	uint64_t next_ns;
	enum { CPU_WAKE, CPU_BEGIN, CPU_END } next;
	enum service service;
	uint64_t latency_ns;
};

struct fleet {
	struct fxt_archive archive;
	struct outbuf out;
	uint64_t random;
	unsigned host, day;
	uint64_t now_ns;
	struct cpu cpus[CPUS];
};

static uint64_t roll(struct fleet *f, uint64_t n)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->random % n;
}

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "make-fleet: %s\n", strerror(-r));
	exit(1);
}

static void put(struct fleet *f, struct event ev)
{
	ev.ts_ns = ev.ts_ns ? ev.ts_ns : f->now_ns;
	check(fxt_archive_event(&f->archive, &ev));
}

static uint32_t pid_of(enum service s)
{
	return 100 + 100 * s;
}

/* A service has a thread for each CPU. */
static uint32_t tid_of(enum service s, unsigned cpu)
{
	return pid_of(s) + cpu;
}

/* ---- which host has which fault ---- */

static bool has_bad_kernel(const struct fleet *f)
{
	return f->host % 7 == 3;
}

static bool has_bad_build(const struct fleet *f)
{
	return f->host % 5 == 2;
}

/* ---- the head ---- */

static void put_mapping(struct fleet *f, enum service s)
{
	uint8_t id[20] = { (uint8_t)(0x10 + s) };
	char path[64];

	if (s == CACHE && has_bad_build(f))
		memcpy(id, "\xba\xd0", 2);
	snprintf(path, sizeof(path), "/usr/bin/%s", names[s]);
	put(f, (struct event){ .kind = EVENT_MAPPING,
			       .pid = pid_of(s),
			       .tid = pid_of(s),
			       .mapping = { .start = CODE,
					    .size = FUNCTIONS * PAGE,
					    .build_id = id,
					    .build_id_size = sizeof(id),
					    .module_id = s,
					    .path = path } });
}

static void put_service(struct fleet *f, enum service s)
{
	char cgroup[64];

	snprintf(cgroup, sizeof(cgroup), "/system.slice/%s.service", names[s]);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		put(f, (struct event){ .kind = EVENT_TASK,
				       .pid = pid_of(s),
				       .tid = tid_of(s, cpu),
				       .task = { .comm = names[s],
						 .command_line = names[s],
						 .cgroup_path = cgroup,
						 .cgroup_id = 10 + s,
						 .parent_pid = 1,
						 .is_process = cpu == 0 } });
	put_mapping(f, s);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		put(f, (struct event){ .kind = EVENT_FRAME,
				       .pid = FXT_KOID_KYMO,
				       .tid = FXT_KOID_KYMO,
				       .frame = { .process = pid_of(s),
						  .address = CODE + PAGE * i,
						  .function = functions[i],
						  .source = "",
						  .module = "" } });
}

static void put_head(struct fleet *f)
{
	struct event ev = { .kind = EVENT_START, .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO };
	char host[32];

	snprintf(host, sizeof(host), "host-%03u", f->host);
	ev.start.session = "fleet";
	ev.start.command = ev.start.options = "";
	ev.start.kernel = has_bad_kernel(f) ? "6.12.9-bad" : "6.12.8";
	ev.start.machine = "x86_64";
	ev.start.host = host;
	ev.start.version = "0.1.0";
	ev.start.n_cpus = CPUS;
	put(f, ev);
	ev = (struct event){ .kind = EVENT_CLOCK, .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO };
	ev.clock.mono_ns = ev.clock.boot_ns = BOOT_NS;
	ev.clock.real_ns = FIRST_NS + f->day * DAY_NS + f->host * MS;
	put(f, ev);
	for (enum service s = WEB; s < SERVICES; s++)
		put_service(f, s);
}

/* ---- events ---- */

static uint64_t weight(enum fxt_name name, uint32_t tid)
{
	return fxt_arg32(FXT_ARG_INT32, name, tid ? 120 : (uint32_t)FXT_IDLE_WEIGHT);
}

static void put_switch(struct fleet *f, unsigned cpu, uint32_t from, uint32_t to)
{
	const uint64_t words[] = {
		fxt_switch_header(6, 2, cpu, from ? FXT_STATE_BLOCKED : FXT_STATE_RUNNING),
		f->now_ns,
		from,
		to,
		weight(FXT_NAME_OUTGOING_WEIGHT, from),
		weight(FXT_NAME_INCOMING_WEIGHT, to),
	};

	check(fxt_archive_words(&f->archive, words, ARRAY_SIZE(words)));
}

static void put_wakeup(struct fleet *f, unsigned cpu, uint32_t tid)
{
	const uint64_t words[] = { fxt_wakeup_header(4, 1, cpu), f->now_ns, tid,
				   weight(FXT_NAME_WEIGHT, tid) };

	check(fxt_archive_words(&f->archive, words, ARRAY_SIZE(words)));
}

static void put_stack(struct fleet *f, enum service s, unsigned cpu, enum sample_kind kind,
		      uint64_t id, const enum function *calls)
{
	uint64_t frames[3];

	/* (the other frames are return addresses) */
	for (unsigned i = 0; i < 3; i++)
		frames[i] = CODE + PAGE * calls[i] + (i > 0 || kind == SAMPLE_NAMED);
	put(f, (struct event){
		       .kind = EVENT_SAMPLE,
		       .pid = pid_of(s),
		       .tid = tid_of(s, cpu),
		       .sample = { .frames = frames, .n_frames = 3, .kind = kind, .id = id } });
}

static void put_sample(struct fleet *f, enum service s, unsigned cpu)
{
	bool spins = s == CACHE && has_bad_build(f) && roll(f, 4) > 0;

	put_stack(f, s, cpu, SAMPLE_ON_CPU, 0,
		  (const enum function[]){ spins ? SPIN_RETRY : PARSE, SERVE, MAIN });
}

/* A time off CPU that ends now: for a lock, or for the disk. */
static void put_wait(struct fleet *f, enum service s, unsigned cpu)
{
	bool disk = roll(f, 4) == 0, lock = s == DB && !disk;
	uint64_t ns = 2 * MS + roll(f, MS);
	struct event ev = { .kind = EVENT_OFFCPU, .pid = pid_of(s), .tid = tid_of(s, cpu) };

	if (disk && f->host == 11)
		ns *= 40;
	else if (lock)
		ns *= 5;
	ev.ts_ns = f->now_ns - ns;
	ev.offcpu.end_ns = f->now_ns;
	ev.offcpu.state = disk ? 'D' : 'S';
	put(f, ev);
	f->now_ns -= ns;
	put_stack(f, s, cpu, SAMPLE_OFF_CPU, 0,
		  (const enum function[]){ disk ? READ_BLOCK : FUTEX_WAIT,
					   lock ? COMMIT_LOG : SERVE, MAIN });
	f->now_ns += ns;
}

/* ---- the CPUs ---- */

static enum service choose_service(struct fleet *f)
{
	return f->host == 8 && roll(f, 3) ? BATCH : (enum service)roll(f, SERVICES);
}

static uint64_t latency_of(struct fleet *f, enum service s)
{
	uint64_t ns = 20 * US + roll(f, 200 * US);

	if (s == WEB && has_bad_kernel(f))
		return 50 * ns;
	return f->host == 8 && s != BATCH ? 20 * ns : ns;
}

static uint64_t duration_of(struct fleet *f, enum service s)
{
	uint64_t ns = 100 * US + roll(f, 800 * US);

	if (s == SHOP && f->day == 1)
		return ns * 4 / 3;
	return f->host == 8 && s == BATCH ? 10 * ns : ns;
}

/* Plays the next event of C. Returns true if a slice has ended. */
static bool step_cpu(struct fleet *f, struct cpu *c, unsigned cpu)
{
	uint32_t tid;

	f->now_ns = c->next_ns;
	switch (c->next) {
	case CPU_WAKE:
		c->service = choose_service(f);
		c->latency_ns = latency_of(f, c->service);
		put_wakeup(f, cpu, tid_of(c->service, cpu));
		c->next_ns += c->latency_ns;
		c->next = CPU_BEGIN;
		return false;
	case CPU_BEGIN:
		if (roll(f, 8) == 0)
			put_wait(f, c->service, cpu);
		put_switch(f, cpu, 0, tid_of(c->service, cpu));
		c->next_ns += duration_of(f, c->service);
		c->next = CPU_END;
		return false;
	default:
		tid = tid_of(c->service, cpu);
		if (roll(f, 4) == 0)
			put_sample(f, c->service, cpu);
		put_switch(f, cpu, tid, 0);
		c->next_ns += 50 * US + roll(f, 1000 * US);
		c->next = CPU_WAKE;
		return true;
	}
}

static void play(struct fleet *f, uint64_t n_slices)
{
	for (unsigned i = 0; i < CPUS; i++)
		f->cpus[i] = (struct cpu){ .next_ns = BOOT_NS + 100 * MS + i };
	while (n_slices > 0) {
		unsigned first = 0;

		for (unsigned i = 1; i < CPUS; i++)
			if (f->cpus[i].next_ns < f->cpus[first].next_ns)
				first = i;
		n_slices -= step_cpu(f, &f->cpus[first], first);
	}
}

/* ---- the other faults ---- */

static void put_losses(struct fleet *f)
{
	put(f, (struct event){ .kind = EVENT_SHED,
			       .pid = FXT_KOID_KYMO,
			       .tid = FXT_KOID_KYMO,
			       .shed = { .what = "stacks",
					 .session = "fleet",
					 .cost_ppm = 90000,
					 .limit_ppm = 50000 } });
	put(f, (struct event){ .kind = EVENT_LOST,
			       .pid = FXT_KOID_KYMO,
			       .tid = FXT_KOID_KYMO,
			       .lost = { "sched", 1234, f->now_ns, f->now_ns } });
}

/* Live blocks of the cache: a few that are reachable, and those that a bad build lost. */
static void put_blocks(struct fleet *f)
{
	unsigned n_lost = has_bad_build(f) ? 50 : 1;
	struct event ev = { .kind = EVENT_WATCH_BEGIN, .pid = pid_of(CACHE), .tid = pid_of(CACHE) };

	ev.watch.resources = "memory";
	ev.watch.allocators = ev.watch.unwatched = "";
	put(f, ev);
	put_stack(f, CACHE, 0, SAMPLE_NAMED, 1, (const enum function[]){ PARSE, SERVE, MAIN });
	ev = (struct event){ .kind = EVENT_SNAPSHOT, .pid = ev.pid, .tid = ev.tid };
	ev.snapshot.blocks = n_lost + 10;
	ev.snapshot.final = true;
	ev.snapshot.sequence = 1;
	put(f, ev);
	for (unsigned i = 0; i < n_lost + 10; i++) {
		ev = (struct event){ .kind = EVENT_BLOCK, .pid = ev.pid, .tid = ev.tid };
		ev.block.resource = RESOURCE_MEMORY;
		ev.block.id = 0x10000 + 0x1000 * i;
		ev.block.size = 1000;
		ev.block.stack = 1;
		ev.block.function = "malloc";
		ev.block.text = "";
		ev.block.since_ns = BOOT_NS + MS;
		ev.block.thread = ev.pid;
		ev.block.reach = i < n_lost ? REACH_LOST : REACH_REACHABLE;
		put(f, ev);
	}
}

static void put_storm(struct fleet *f, unsigned n)
{
	for (uint32_t pid = STORM_PID; pid < STORM_PID + n; pid++) {
		put(f, (struct event){ .kind = EVENT_TASK,
				       .pid = pid,
				       .tid = pid,
				       .task = { .comm = "check-disk",
						 .command_line = "check-disk",
						 .start_ns = f->now_ns,
						 .cgroup_path = "/system.slice/cron.service",
						 .cgroup_id = 30,
						 .parent_pid = 1,
						 .is_process = true } });
		put(f, (struct event){ .kind = EVENT_EXIT,
				       .pid = pid,
				       .tid = pid,
				       .ts_ns = f->now_ns + MS,
				       .exit = { .process_ends = true } });
		f->now_ns += 2 * MS;
	}
}

/* ---- an archive ---- */

static void write_archive(const struct fleet *f, const char *directory)
{
	_cleanup_free_ char *path = NULL;
	/* (a half is certainly without the end) */
	size_t n = f->host == 14 && f->day == 1 ? f->out.size / 2 / 8 * 8 : f->out.size;
	FILE *out;
	bool failed;

	if (asprintf(&path, "%s/host-%03u-%u.fxt", directory, f->host, f->day) < 0)
		abort();
	out = fopen(path, "we");
	failed = !out || fwrite(f->out.data, 1, n, out) != n;
	failed |= out && fclose(out) != 0;
	if (!failed)
		return;
	perror(path);
	exit(1);
}

static void make_archive(const char *directory, uint64_t seed, unsigned host, unsigned day,
			 uint64_t n_slices)
{
	struct fleet f = { .host = host, .day = day, .now_ns = BOOT_NS };

	f.random = (seed + 2 * host + day + 1) * UINT64_C(0x9e3779b97f4a7c15);
	f.out.limit = (size_t)1 << 31;
	check(fxt_archive_init(&f.archive, &f.out, CPUS));
	check(fxt_archive_begin(&f.archive));
	put_head(&f);
	play(&f, n_slices);
	put_storm(&f, host == 13 ? STORM : 2);
	if (host == 5)
		put_losses(&f);
	put_blocks(&f);
	put(&f, (struct event){ .kind = EVENT_STOP,
				.pid = FXT_KOID_KYMO,
				.tid = FXT_KOID_KYMO,
				.stop = { .reason = "duration" } });
	write_archive(&f, directory);
	fxt_archive_deinit(&f.archive);
	outbuf_deinit(&f.out);
}

int main(int argc, char **argv)
{
	uint64_t seed, n_slices;
	unsigned n_hosts;

	if (argc != 5) {
		fprintf(stderr, "usage: make-fleet DIR SEED HOSTS SLICES\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	n_hosts = (unsigned)strtoul(argv[3], NULL, 10);
	n_slices = strtoull(argv[4], NULL, 10);
	for (unsigned host = 0; host < n_hosts; host++)
		for (unsigned day = 0; day < 2; day++)
			make_archive(argv[1], seed, host, day, n_slices);
	return 0;
}
