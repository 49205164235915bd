/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest of these files, meminfo, has 1.5 KiB. */
enum { FILE_MAX = 8192 };

static const char *const pressure_files[] = { "cpu", "memory", "io", "irq" };

/* The values in the pressure files: the file, the line and the name of each value. */
static const struct {
	unsigned file; /* index in pressure_files */
	const char *line, *name;
} pressure_rows[] = {
	{ 0, "some", "CPU some (%)" },    { 0, "full", "CPU full (%)" },
	{ 1, "some", "memory some (%)" }, { 1, "full", "memory full (%)" },
	{ 2, "some", "I/O some (%)" },    { 2, "full", "I/O full (%)" },
	{ 3, "full", "IRQ full (%)" },
};

static const struct {
	const char *line, *name;
} memory_rows[] = {
	{ "MemTotal:", "total (bytes)" },
	{ "MemFree:", "free (bytes)" },
	{ "MemAvailable:", "available (bytes)" },
	{ "Buffers:", "buffers (bytes)" },
	{ "Cached:", "cached (bytes)" },
	{ "AnonPages:", "anonymous (bytes)" },
	{ "Shmem:", "shared (bytes)" },
	{ "Slab:", "slab (bytes)" },
	{ "Dirty:", "dirty (bytes)" },
	{ "Writeback:", "writeback (bytes)" },
	{ "SwapTotal:", "swap total (bytes)" },
	{ "SwapFree:", "swap free (bytes)" },
};

struct counters {
	int meminfo_fd, loadavg_fd;
	int pressure_fds[ARRAY_SIZE(pressure_files)];
	struct {
		bool known;
		uint64_t total_us;
	} pressure[ARRAY_SIZE(pressure_rows)]; /* values at the last sample */
	uint64_t last_ns;                      /* time of the last sample */
	unsigned n_cpus;
	int *frequency_fds; /* owned; -1 = the CPU has no such file */
};

static int counters_open_below(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -1;
	return open(full, O_RDONLY | O_CLOEXEC);
}

int counters_new(const char *root, unsigned n_cpus, struct counters **ret)
{
	struct counters *c = calloc(1, sizeof(*c));
	char path[96];

	if (!c)
		return -ENOMEM;
	c->frequency_fds = calloc(n_cpus, sizeof(*c->frequency_fds));
	if (!c->frequency_fds) {
		free(c);
		return -ENOMEM;
	}
	c->n_cpus = n_cpus;
	c->meminfo_fd = counters_open_below(root, "/proc/meminfo");
	c->loadavg_fd = counters_open_below(root, "/proc/loadavg");
	for (size_t i = 0; i < ARRAY_SIZE(pressure_files); i++) {
		snprintf(path, sizeof(path), "/proc/pressure/%s", pressure_files[i]);
		c->pressure_fds[i] = counters_open_below(root, path);
	}
	for (unsigned cpu = 0; cpu < n_cpus; cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
		c->frequency_fds[cpu] = counters_open_below(root, path);
	}
	*ret = c;
	return 0;
}

struct counters *counters_free(struct counters *c)
{
	if (!c)
		return NULL;
	close_fd(c->meminfo_fd);
	close_fd(c->loadavg_fd);
	for (size_t i = 0; i < ARRAY_SIZE(pressure_files); i++)
		close_fd(c->pressure_fds[i]);
	for (unsigned cpu = 0; cpu < c->n_cpus; cpu++)
		close_fd(c->frequency_fds[cpu]);
	free(c->frequency_fds);
	return free_ptr(c);
}

/* Reads the whole file as text. Returns false if it is empty or cannot be read. */
static bool counters_read_file(int fd, char text[static FILE_MAX])
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, FILE_MAX - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* ---- groups of values ---- */

static struct rec_counters counters_begin_group(uint64_t now_ns, const char *name, uint64_t id)
{
	struct rec_counters rec = {
		.head = { .ts_ns = now_ns, .size = sizeof(rec), .kind = REC_COUNTERS },
		.id = id,
	};

	snprintf(rec.name, sizeof(rec.name), "%s", name);
	return rec;
}

static void counters_add_whole(struct rec_counters *rec, const char *name, uint64_t v)
{
	rec->whole |= 1u << rec->n_values;
	rec->values[rec->n_values].value = v;
	snprintf(rec->values[rec->n_values++].name, REC_COUNTERS_NAME_BYTES, "%s", name);
}

static void counters_add_double(struct rec_counters *rec, const char *name, double v)
{
	memcpy(&rec->values[rec->n_values].value, &v, sizeof(v));
	snprintf(rec->values[rec->n_values++].name, REC_COUNTERS_NAME_BYTES, "%s", name);
}

static int counters_end_group(const struct rec_counters *rec, counters_fn fn, void *userdata)
{
	return rec->n_values ? fn(rec, userdata) : 0;
}

/* Returns the text after WORD in the line of TEXT that begins with WORD, or NULL. */
static const char *counters_rest_after(const char *text, const char *word)
{
	size_t n = strlen(word);

	while (text && strncmp(text, word, n) != 0) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text ? text + n : NULL;
}

static int counters_sample_memory(struct counters *c, uint64_t now_ns, counters_fn fn,
				  void *userdata)
{
	struct rec_counters rec = counters_begin_group(now_ns, "memory", 0);
	char text[FILE_MAX];

	counters_read_file(c->meminfo_fd, text);
	for (size_t i = 0; i < ARRAY_SIZE(memory_rows); i++) {
		const char *at = counters_rest_after(text, memory_rows[i].line);
		uint64_t kib;

		if (at && sscanf(at, "%" SCNu64 " kB", &kib) == 1)
			counters_add_whole(&rec, memory_rows[i].name, kib * 1024);
	}
	return counters_end_group(&rec, fn, userdata);
}

static int counters_sample_load(struct counters *c, uint64_t now_ns, counters_fn fn, void *userdata)
{
	struct rec_counters rec = counters_begin_group(now_ns, "load", 0);
	uint64_t runnable, threads;
	double one, five, fifteen;
	char text[FILE_MAX];

	counters_read_file(c->loadavg_fd, text);
	if (sscanf(text, "%lf %lf %lf %" SCNu64 "/%" SCNu64, &one, &five, &fifteen, &runnable,
		   &threads) == 5) {
		counters_add_double(&rec, "1 minute", one);
		counters_add_double(&rec, "5 minutes", five);
		counters_add_double(&rec, "15 minutes", fifteen);
		counters_add_whole(&rec, "runnable", runnable);
		counters_add_whole(&rec, "threads", threads);
	}
	return counters_end_group(&rec, fn, userdata);
}

/*
 * Samples the pressure. The kernel counts the time in which tasks waited. The result is that time
 * as a share of the time since the last sample.
 */
static int counters_sample_pressure(struct counters *c, uint64_t now_ns, counters_fn fn,
				    void *userdata)
{
	struct rec_counters rec = counters_begin_group(now_ns, "pressure", 0);
	char texts[ARRAY_SIZE(pressure_files)][FILE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(pressure_files); i++)
		counters_read_file(c->pressure_fds[i], texts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(pressure_rows); i++) {
		const char *at =
			counters_rest_after(texts[pressure_rows[i].file], pressure_rows[i].line);
		uint64_t us, last_us = c->pressure[i].total_us;

		if (at)
			at = strstr(at, "total=");
		if (!at || sscanf(at, "total=%" SCNu64, &us) != 1)
			continue;
		if (c->pressure[i].known && us >= last_us && now_ns > c->last_ns) {
			double percent =
				1e5 * (double)(us - last_us) / (double)(now_ns - c->last_ns);

			counters_add_double(&rec, pressure_rows[i].name,
					    percent < 100 ? percent : 100);
		}
		c->pressure[i].known = true;
		c->pressure[i].total_us = us;
	}
	return counters_end_group(&rec, fn, userdata);
}

static int counters_sample_frequencies(struct counters *c, uint64_t now_ns, counters_fn fn,
				       void *userdata)
{
	char text[FILE_MAX];
	uint64_t khz;
	int r = 0;

	for (unsigned cpu = 0; r == 0 && cpu < c->n_cpus; cpu++) {
		struct rec_counters rec = counters_begin_group(now_ns, "CPU frequency", cpu);

		if (!counters_read_file(c->frequency_fds[cpu], text) ||
		    sscanf(text, "%" SCNu64, &khz) != 1)
			continue;
		counters_add_whole(&rec, "kHz", khz);
		r = counters_end_group(&rec, fn, userdata);
	}
	return r;
}

int counters_sample(struct counters *c, uint64_t now_ns, counters_fn fn, void *userdata)
{
	int r = counters_sample_memory(c, now_ns, fn, userdata);

	r = r ?: counters_sample_load(c, now_ns, fn, userdata);
	r = r ?: counters_sample_pressure(c, now_ns, fn, userdata);
	r = r ?: counters_sample_frequencies(c, now_ns, fn, userdata);
	c->last_ns = now_ns;
	return r;
}
