/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of files that are written here, below a directory that replaces the root.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/proc/counters.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

enum { N_CPUS = 2 };

struct fixture {
	struct counters *c;
	char said[8192]; /* the last sample: a line for each group */
	size_t used;
	int stop_with;
};

static int say(const struct rec_counters *rec, void *userdata)
{
	struct fixture *f = userdata;

	assert_int_equal(rec->head.kind, REC_COUNTERS);
	assert_int_equal(rec->head.size, sizeof(*rec));
	f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used, "%llu %s %llu",
				    rec->head.ts_ns, rec->name, rec->id);
	for (unsigned i = 0; i < rec->n_values; i++) {
		double real;

		memcpy(&real, &rec->values[i].value, sizeof(real));
		f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used,
					    " %s=", rec->values[i].name);
		if (rec->whole >> i & 1)
			f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used,
						    "%llu", rec->values[i].value);
		else
			f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used,
						    "%g.", real);
	}
	f->used += (size_t)snprintf(f->said + f->used, sizeof(f->said) - f->used, "\n");
	assert_true(f->used < sizeof(f->said));
	return f->stop_with;
}

static void assert_sample(struct fixture *f, uint64_t now_ns, const char *want)
{
	f->used = 0;
	*f->said = '\0';
	assert_int_equal(counters_sample(f->c, now_ns, say, f), 0);
	assert_string_equal(f->said, want);
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return own_directory_set_up(NULL);
}

FIXTURE(tear_down)
{
	struct fixture *f = *state;
	int r = own_directory_tear_down(NULL);

	counters_free(f->c);
	free(f);
	return r;
}

#define MEMINFO                                                                                    \
	"MemTotal:       24684092 kB\nMemFree:        23863080 kB\nMemAvailable:   24234244 kB\n"  \
	"Buffers:            2916 kB\nCached:           448244 kB\nSwapCached:            1 kB\n"  \
	"AnonPages:         18728 kB\nShmem:              8856 kB\nSlab:             264366 kB\n"  \
	"SwapTotal:             0 kB\nSwapFree:              0 kB\nDirty:              4888 kB\n"  \
	"Writeback:             3 kB\nWritebackTmp:          5 kB\nHugePages_Total:       9\n"

#define PRESSURE(some, full)                                                                       \
	"some avg10=47.40 avg60=11.85 avg300=5.42 total=" some "\n"                                \
	"full avg10=0.00 avg60=0.00 avg300=0.00 total=" full "\n"

TEST(test_all)
{
	struct fixture *f = *state;

	put_text(".", "/proc/meminfo", MEMINFO);
	put_text(".", "/proc/loadavg", "1.04 0.56 0.79 3/96 2766\n");
	put_text(".", "/proc/pressure/cpu", PRESSURE("1000000", "0"));
	put_text(".", "/proc/pressure/memory", PRESSURE("18446744073709551615", "7"));
	put_text(".", "/proc/pressure/io", PRESSURE("34184930", "20723408"));
	put_text(".", "/proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
	put_text(".", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2399998\n");
	assert_int_equal(counters_new(".", N_CPUS, &f->c), 0);
#define FIRST                                                                                         \
	" memory 0 total (bytes)=25276510208 free (bytes)=24435793920 available (bytes)=24815865856 " \
	"buffers (bytes)=2985984 cached (bytes)=459001856 anonymous (bytes)=19177472 "                \
	"shared (bytes)=9068544 slab (bytes)=270710784 dirty (bytes)=5005312 writeback (bytes)=3072 " \
	"swap total (bytes)=0 swap free (bytes)=0\n"
	assert_sample(f, 1000000000,
		      "1000000000" FIRST
		      "1000000000 load 0 1 minute=1.04. 5 minutes=0.56. 15 minutes=0.79. "
		      "runnable=3 threads=96\n"
		      "1000000000 CPU frequency 1 kHz=2399998\n");

	/* Half a second later. */
	put_text(".", "/proc/loadavg", "0.00 0.00 0.00 1/1 1\n");
	put_text(".", "/proc/pressure/cpu", PRESSURE("1125000", "0"));
	put_text(".", "/proc/pressure/memory",
		 PRESSURE("3", "500008")); /* wrapped; the clocks differ */
	put_text(".", "/proc/pressure/io", PRESSURE("34184931", "20773408"));
	put_text(".", "/proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
	put_text(".", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "<unknown>\n");
	assert_sample(f, 1500000000,
		      "1500000000" FIRST "1500000000 load 0 1 minute=0. 5 minutes=0. 15 minutes=0. "
		      "runnable=1 threads=1\n"
		      "1500000000 pressure 0 CPU some (%)=25. CPU full (%)=0. "
		      "memory full (%)=100. I/O some (%)=0.0002. I/O full (%)=10. "
		      "IRQ full (%)=0.\n");
}

/* Missing files are left out, and so are invalid values. */
TEST(test_missing)
{
	struct fixture *f = *state;

	assert_int_equal(counters_new(".", N_CPUS, &f->c), 0);
	assert_sample(f, 5, "");
	f->c = counters_free(f->c);
	assert_null(counters_free(NULL));

	put_text(".", "/proc/meminfo",
		 "MemTotal: much\nMemFree:  1 kB\nNotMemAvailable: 3 kB\nDirty:");
	put_text(".", "/proc/loadavg", "1.04 0.56 0.79\n");
	put_text(".", "/proc/pressure/cpu", "some total=x\nfull avg10=0\n");
	put_text(".", "/proc/pressure/io", "");
	assert_int_equal(counters_new(".", N_CPUS, &f->c), 0);
	assert_sample(f, 5, "5 memory 0 free (bytes)=1024\n");
	assert_sample(f, 6, "6 memory 0 free (bytes)=1024\n");
}

TEST(test_stopped)
{
	struct fixture *f = *state;

	put_text(".", "/proc/meminfo", "MemFree: 1 kB\n");
	put_text(".", "/proc/loadavg", "1 2 3 4/5 6\n");
	assert_int_equal(counters_new(".", N_CPUS, &f->c), 0);
	f->stop_with = -ENOMEM;
	assert_int_equal(counters_sample(f->c, 7, say, f), -ENOMEM);
	assert_string_equal(f->said, "7 memory 0 free (bytes)=1024\n");
}

/* The files of this machine. */
TEST(test_own)
{
	struct fixture *f = *state;

	if (access("/proc/meminfo", R_OK) < 0)
		skip();
	assert_int_equal(counters_new("", N_CPUS, &f->c), 0);
	assert_int_equal(counters_sample(f->c, 7, say, f), 0);
	assert_non_null(strstr(f->said, "7 memory 0 total (bytes)="));
	assert_non_null(strstr(f->said, "7 load 0 1 minute="));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_all),
		CASE(test_missing),
		CASE(test_stopped),
		CASE(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
