/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collections: each key, errors with their lines, and conflicts of keys.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/options/collection-parse.h"
#include "base/cleanup.h"
#include "capture/options/option-table.h"
#include "tests/support/unit.h"

/* ---- functions of the tests ---- */

static char complaints[1 << 16];
static struct collection c;

static void on_complaint(unsigned line, const char *text, void *userdata)
{
	size_t used = strlen(complaints);

	assert_ptr_equal(userdata, &c);
	assert_true(used + strlen(text) + 20 < sizeof(complaints));
	sprintf(complaints + used, "%u: %s\n", line, text);
}

static int read_bytes(const char *text, size_t n)
{
	FILE *f = fmemopen((void *)(uintptr_t)(n ? text : "\n"), n ?: 1, "r");
	int r;

	assert_non_null(f);
	collection_deinit(&c);
	*complaints = '\0';
	r = collection_read(f, "test", on_complaint, &c, &c);
	fclose(f);
	return r;
}

FIXTURE(tear_down)
{
	collection_deinit(&c);
	return 0;
}

static void good(const char *text)
{
	int r = read_bytes(text, strlen(text));

	assert_string_equal(complaints, "");
	assert_int_equal(r, 0);
}

/* EXPECTED has a line for each error, "LINE: text". */
static void wrong(const char *text, const char *expected)
{
	int r = read_bytes(text, strlen(text));

	assert_string_equal(complaints, expected);
	assert_int_equal(r, -EINVAL);
}

/* ---- valid files ---- */

TEST(test_empty)
{
	good("");
	assert_string_equal(c.session.name, "test");
	assert_string_equal(c.session.command, "profile test");
	assert_string_equal(c.directory, "/var/lib/kymo/test");
	assert_int_equal(c.directory_line, 0);
	assert_int_equal(c.session.mode, SESSION_STREAM);
	assert_int_equal(c.session.categories, 0);
	/* Without a setting, the disk does not fill up, either. */
	assert_int_equal(c.session.rotate_bytes, COLLECTION_ROTATE_BYTES_DEFAULT);
	assert_int_equal(c.keep_bytes, COLLECTION_KEEP_BYTES_DEFAULT);
	assert_null(c.units);
	good("[Collection]\n[Trigger]\n\n");
	good("\xef\xbb\xbf[Collection]\nMode=flight\n");
	assert_int_equal(c.session.mode, SESSION_FLIGHT);
}

TEST(test_collection)
{
	good("# a comment\n"
	     "[Collection]   ; another one\n"
	     "Description=Was läuft hier?\n"
	     "Categories = sched,profile  offcpu\r\n"
	     "\tCategories=counters\n"
	     "Compress=yes\n"
	     "RingSize=1M\n"
	     "  Frequency=997\n"
	     "OffCpuMin=5ms ; said twice a day\n"
	     "CounterInterval=50sec 9s\n"
	     "FlushInterval=1s\n"
	     "PerfettoBlobs=no\n"
	     "MaxOverhead=2.5%\n"
	     "Duration=1d");
	assert_string_equal(c.description, "Was läuft hier?");
	assert_string_equal(c.session.command, "profile test: Was läuft hier?");
	assert_int_equal(c.session.categories,
			 CATEGORY_SCHED | CATEGORY_PROFILE | CATEGORY_OFFCPU | CATEGORY_COUNTERS);
	assert_int_equal(c.session.compress, PACK_ZSTD);
	assert_int_equal(c.session.ring_bytes, 1 << 20);
	assert_int_equal(c.session.frequency, 997);
	assert_int_equal(c.session.offcpu_min_ns, 5000000);
	assert_int_equal(c.session.counter_interval_ns, UINT64_C(59000000000));
	assert_int_equal(c.session.flush_ns, 1000000000);
	assert_true(c.session.no_perfetto_blobs);
	assert_int_equal(c.session.max_overhead_machine_ppm, 25000);
	assert_int_equal(c.session.max_overhead_ppm, 0);
	assert_int_equal(c.session.duration_ns, UINT64_C(86400000000000));
	good("[Collection]\nCompress=snappy\nDuration=infinity\n");
	assert_int_equal(c.session.compress, PACK_SNAPPY);
	assert_int_equal(c.session.duration_ns, 0);
	good("[Collection]\nCompress=no\nMode=stream");
	assert_int_equal(c.session.compress, PACK_NONE);
}

TEST(test_filter)
{
	good("[Filter]\nUnit=a.service\nUnit=b\nUnit=c@d\\x2de.scope\nCGroup=/x/y\nCGroup=z/\n"
	     "Comm=worker one\nComm=a,b\nUser=0\nUser=root\n");
	assert_string_equal(c.units[0], "a.service");
	assert_string_equal(c.units[1], "b");
	assert_string_equal(c.units[2], "c@d\\x2de.scope");
	assert_null(c.units[3]);
	assert_string_equal(c.cgroups[0], "/x/y");
	assert_string_equal(c.cgroups[1], "z/");
	assert_null(c.cgroups[2]);
	assert_int_equal(c.session.filter.n_comms, 2);
	assert_string_equal(c.session.filter.comms[0], "worker one");
	assert_string_equal(c.session.filter.comms[1], "a,b");
	assert_int_equal(c.session.filter.n_uids, 2);
	assert_int_equal(c.session.filter.uids[1], 0);
	assert_int_equal(c.session.filter.n_cgroups, 0);
}

/* Categories of programs are words of Categories=. */
TEST(test_categories_of_programs)
{
	good("[Collection]\nCategories=sched app:render,app:net*\n");
	assert_int_equal(c.session.categories & CATEGORY_APP, CATEGORY_APP);
	assert_string_equal(c.session.app, "render,net*");
}

/* Sets of tracepoints are words of Categories=, and with conditions of Tracepoint=. */
TEST(test_tracepoint_sets)
{
	good("[Collection]\nCategories=sched signals,net\nTracepoint=faults[ip>0]\n");
	assert_int_equal(c.session.categories, CATEGORY_SCHED | CATEGORY_TRACEPOINTS);
	assert_int_equal(c.session.tracepoints.n_specs, 3);
	assert_string_equal(c.session.tracepoints.specs[0], "signals");
	assert_string_equal(c.session.tracepoints.specs[1], "net");
	assert_string_equal(c.session.tracepoints.specs[2], "faults[ip>0]");
}

TEST(test_memory)
{
	good("[Collection]\nCategories=memory threads\n[Filter]\nUnit=x\n[Memory]\nLog=yes\n"
	     "Interval=64K\nMinSize=16\nBlocks=5000\nUsageInterval=2s\nReach=look\n"
	     "Program=/usr/bin/x\nProgram=/usr/lib/y.so\n");
	assert_true(c.session.memory.log);
	assert_int_equal(c.session.memory.interval, 65536);
	assert_int_equal(c.session.memory.min_bytes, 16);
	assert_int_equal(c.session.memory.blocks_max, 5000);
	assert_int_equal(c.session.memory.usage_interval_ns, 2000000000);
	assert_int_equal(c.session.memory.reach, MEMORY_REACH_LOOK);
	assert_string_equal(c.programs[0], "/usr/bin/x");
	assert_string_equal(c.programs[1], "/usr/lib/y.so");
	assert_null(c.programs[2]);
	good("[Collection]\nCategories=memory\n[Memory]\nTriage=yes\nTriageInterval=10\n");
	assert_true(c.session.memory.triage);
	assert_int_equal(c.session.memory.triage_interval_ns, UINT64_C(10000000000));
}

TEST(test_output)
{
	good("[Output]\nDirectory=/srv/traces//\nRotateSize=8M\nRotateTime=10min\nKeepSize=1G\n"
	     "KeepTime=2w\n");
	assert_string_equal(c.directory, "/srv/traces");
	assert_int_equal(c.directory_line, 2);
	assert_int_equal(c.session.rotate_bytes, 8 << 20);
	assert_int_equal(c.session.rotate_ns, UINT64_C(600000000000));
	assert_int_equal(c.keep_bytes, 1 << 30);
	assert_int_equal(c.keep_ns, UINT64_C(1209600000000000));
	good("[Output]\nRotateSize=infinity\nKeepSize=infinity\n");
	assert_int_equal(c.session.rotate_bytes, 0);
	assert_int_equal(c.keep_bytes, 0);
	/* At least two chunks. */
	good("[Output]\nRotateSize=2G\n");
	assert_int_equal(c.keep_bytes, UINT64_C(4) << 30);
	good("[Output]\nRotateTime=1h\n");
	assert_int_equal(c.session.rotate_bytes, 0);
}

TEST(test_flight)
{
	good("[Collection]\nMode=flight\nCategories=sched memory\n[Filter]\nUser=0\n[Flight]\n"
	     "Keep=30s\nKeepSize=128M\n[Trigger]\nWakeupLatency=10ms\nOffCpu=2s\nCpuPressure=90%\n"
	     "MemoryPressure=20%\nIoPressure=30.5%\nLeakGrowth=64M\nInterval=10min\n");
	assert_int_equal(c.session.mode, SESSION_FLIGHT);
	assert_int_equal(c.session.flight_ns, UINT64_C(30000000000));
	assert_int_equal(c.session.flight_bytes, 128 << 20);
	assert_int_equal(c.session.rotate_bytes, 0);
	assert_int_equal(c.session.triggers.wakeup_ns, 10000000);
	assert_int_equal(c.session.triggers.offcpu_ns, 2000000000);
	assert_int_equal(c.session.triggers.pressure_ppm[0], 900000);
	assert_int_equal(c.session.triggers.pressure_ppm[1], 200000);
	assert_int_equal(c.session.triggers.pressure_ppm[2], 305000);
	assert_int_equal(c.session.triggers.leak_bytes, 64 << 20);
	assert_int_equal(c.session.triggers.interval_ns, UINT64_C(600000000000));
	good("[Collection]\nMode=flight\n");
	assert_int_equal(c.session.triggers.interval_ns, COLLECTION_TRIGGER_NS_DEFAULT);
}

/* Each key accepts a value, and refuses nonsense. */
TEST(test_every_key)
{
	size_t n = 0;

	OPTION_FOR_EACH(row) {
		char text[256], values[OPTION_VALUES_MAX];

		if (!row->key)
			continue;
		n++;
		snprintf(text, sizeof(text), "[%s]\n%s=\n", row->section, row->key);
		read_bytes(text, strlen(text));
		assert_non_null(strstr(complaints, "2: "));
		assert_non_null(strstr(complaints, "has no value"));
		assert_true(strlen(option_values(row, values)) > 3);
		if (strcmp(row->key, "Description") == 0 || strcmp(row->key, "Comm") == 0 ||
		    strcmp(row->key, "Run") == 0)
			continue;
		snprintf(text, sizeof(text), "[%s]\n%s=?/../?\n", row->section, row->key);
		assert_int_equal(read_bytes(text, strlen(text)), -EINVAL);
		snprintf(text, sizeof(text), "2: %s=: ", row->key);
		assert_int_equal(strncmp(complaints, text, strlen(text)), 0);
	}
	assert_true(n >= 39);
}

/* ---- errors ---- */

TEST(test_lines)
{
	wrong("Mode=flight\n",
	      "1: Mode= is outside of all sections: [Collection] or another section must come "
	      "first\n");
	wrong("\n[Colection]\n",
	      "2: there is no section [Colection]; did you mean [Collection]?\n");
	wrong("[Service]\nMode=flight\n", "1: there is no section [Service]\n");
	wrong("[Collection\n", "1: '[Collection' is not a section: expected [Name]\n");
	wrong("[Collection] x\n", "1: unexpected text 'x' after [Collection]\n");
	wrong("[Collection]\nnonsense\n\nmore\n",
	      "2: this is neither [Section], Key=value nor a comment (#)\n"
	      "4: this is neither [Section], Key=value nor a comment (#)\n");
	wrong("[Collection]\nMode: flight\n", "2: 'Mode: flight' is not of the form Key=value\n");
	wrong("[Collection]\nMode=stream\nMode=flight\n",
	      "3: Mode= is given twice, in line 2 and here: remove one of them\n");
	/* An indented line is a line like others. */
	wrong("[Collection]\nRingSize=1M\n  2M\n",
	      "3: this is neither [Section], Key=value nor a comment (#)\n");
	wrong("[Collection]\nMode=\n", "2: Mode= has no value: add one, or remove the line\n");
}

TEST(test_unknown_keys)
{
	wrong("[Collection]\nMod=flight\n",
	      "2: there is no key Mod= in [Collection]; did you mean Mode=?\n");
	wrong("[Collection]\nmode=flight\n",
	      "2: there is no key mode= in [Collection]; did you mean Mode=?\n");
	wrong("[Collection]\nUnit=x\n",
	      "2: there is no key Unit= in [Collection]; did you mean Unit= of [Filter]?\n");
	wrong("[Flight]\nInterval=5s\n",
	      "2: there is no key Interval= in [Flight]; did you mean Interval= of [Memory]?\n");
	wrong("[Filter]\nSomethingElse=x\n",
	      "2: there is no key SomethingElse= in [Filter]; kymo.conf(5) lists them\n");
}

TEST(test_long_lines)
{
	char text[1024] = "[Collection]\nDescription=";
	size_t n = strlen(text);

	memset(text + n, 'x', 500);
	assert_int_equal(read_bytes(text, n + 500), -EINVAL);
	assert_int_equal(strncmp(complaints, "2: the line is longer than ", 27), 0);
	memset(text, 'k', 100);
	strcpy(text + 100, "=1\n");
	assert_int_equal(read_bytes(text, strlen(text)), -EINVAL);
	assert_non_null(strstr(complaints, "is not of the form Key=value"));
	memset(text, '[', 1);
	assert_int_equal(read_bytes(text, strlen(text)), -EINVAL);
	assert_non_null(strstr(complaints, "is not a section"));
}

TEST(test_bytes)
{
	static const char nul[] = "[Collection]\nMode=fl\0ight\n";

	assert_int_equal(read_bytes(nul, sizeof(nul) - 1), -EINVAL);
	assert_string_equal(complaints,
			    "2: the line is not text: it contains a NUL, or is not UTF-8\n");
	wrong("[Collection]\nDescription=\xff\n",
	      "2: the line is not text: it contains a NUL, or is not UTF-8\n");
}

/* Only a hundred are reported, in order of lines. */
TEST(test_many)
{
	static char text[8192] = "[Collection]\nOffCpuMin=1s\n";
	const char *p;
	int n = 0;

	for (int i = 0; i < 200; i++)
		strcat(text, "nonsense\n");
	assert_int_equal(read_bytes(text, strlen(text)), -EINVAL);
	for (p = complaints; (p = strchr(p, '\n')); p++)
		n++;
	assert_int_equal(n, 100);
	assert_int_equal(strncmp(complaints, "3: ", 3), 0);
}

TEST(test_values)
{
	wrong("[Collection]\nRingSize=1K\nFrequency=0\nCategories=sched,nothing\nMode=x\n"
	      "Compress=bzip2\nMaxOverhead=0%\nPerfettoBlobs=perhaps\n",
	      "2: RingSize=: '1K' is out of range: 64.0 KiB to 256.0 MiB\n"
	      "3: Frequency=: '0' is out of range: 1 to 10000\n"
	      "4: Categories=: unknown category 'nothing'; `kymo record -e help` lists them\n"
	      "5: Mode=: 'x' is not one of stream or flight\n"
	      "6: Compress=: 'bzip2' is not one of no, yes, snappy, zstd, gzip, columns\n"
	      "7: MaxOverhead=: '0%' is out of range: 0.01% to 100% of the machine's CPU time; "
	      "use 1.5cpu for one and a half CPUs\n"
	      "8: PerfettoBlobs=: 'perhaps' is not yes or no\n");
	wrong("[Filter]\nUnit=a b\nUnit=x.timer\nUnit=a/b\nCGroup=/\nCGroup=a/../b\n"
	      "User=no_such_user\n",
	      "2: Unit=: 'a b' is more than one unit: use a line Unit= for each\n"
	      "3: Unit=: 'x.timer' is not a unit with processes: use a service, scope, slice, "
	      "socket, mount or swap\n"
	      "4: Unit=: 'a/b' is not a valid name for a unit\n"
	      "5: CGroup=: '/' is not the path of a cgroup below the root\n"
	      "6: CGroup=: 'a/../b' is not the path of a cgroup below the root\n"
	      "7: User=: there is no user 'no_such_user'\n");
	wrong("[Output]\nDirectory=traces\nRotateTime=1ms\nKeepSize=1\n",
	      "2: Directory=: 'traces' is not an absolute path without \".\" and \"..\"\n"
	      "3: RotateTime=: '1ms' is out of range: 1.00 s or more\n"
	      "4: KeepSize=: '1' is out of range: 1.0 MiB or more\n");
	wrong("[Output]\nDirectory=//\n", "2: Directory=: '/' cannot be the directory of "
					  "chunks\n");
	wrong("[Output]\nDirectory=/a/../b\n",
	      "2: Directory=: '/a/../b' is not an absolute path without \".\" and \"..\"\n");
}

TEST(test_contradictions)
{
	wrong("[Flight]\nKeep=5s\n", "2: Keep=: needs mode 'flight'\n");
	wrong("[Output]\nRotateSize=8M\n[Collection]\nMode=flight\n",
	      "2: RotateSize=: needs mode 'stream'\n");
	good("[Trigger]\nWakeupLatency=1ms\n");
	wrong("[Collection]\nCategories=sched\nFrequency=98\nOffCpuMin=2ms\nCounterInterval=2s\n",
	      "3: Frequency=: needs 'profile' among the categories\n"
	      "4: OffCpuMin=: needs 'offcpu' among the categories\n"
	      "5: CounterInterval=: needs 'counters' among the categories\n");
	/* Redundant settings are allowed. */
	good("[Collection]\nCategories=sched\nFrequency=99\nOffCpuMin=1ms\nCounterInterval=1s\n");
	wrong("[Memory]\nMinSize=5\n",
	      "2: MinSize=: needs one of 'memory,fd,shm,threads' among the categories\n");
	wrong("[Memory]\nProgram=/bin/x\n",
	      "2: Program=: needs one of 'memory,threads' among the categories\n");
	wrong("[Collection]\nMode=flight\nCategories=profile\n[Trigger]\nWakeupLatency=1ms\n",
	      "5: WakeupLatency=: needs 'sched' among the categories\n");
	wrong("[Collection]\nCategories=memory\n",
	      "2: Categories=: only allocations of selected processes are recorded: add a "
	      "filter by process, name, user, unit or cgroup\n");
	wrong("[Collection]\nCategories=memory\n[Filter]\nUnit=x\n[Memory]\nTriage=yes\n",
	      "6: Triage=: cannot be combined with a filter or a command: it searches all "
	      "processes for growing ones\n");
	wrong("[Memory]\nTriage=yes\n", "2: Triage=: needs 'memory' among the categories\n");
	wrong("[Collection]\nCategories=memory\n[Filter]\nUnit=x\n[Memory]\nTriageInterval=1s\n",
	      "6: TriageInterval=: needs 'triage'\n");
	wrong("[Output]\nRotateSize=8M\nKeepSize=4M\n",
	      "3: KeepSize= is 4.0 MiB, less than the 8.0 MiB of one chunk (RotateSize=): no "
	      "earlier chunk would be kept\n");
	wrong("[Output]\nRotateTime=1h\nKeepTime=1min\n",
	      "3: KeepTime= is 60.0 s, less than the 3600 s of one chunk (RotateTime=): no "
	      "earlier chunk would be kept\n");
	wrong("[Filter]\nUnit=a\nUnit=b\nUnit=c\nUnit=d\nUnit=e\nUnit=f\nUnit=g\nCGroup=h\n"
	      "CGroup=i\n",
	      "2: there are 9 Unit= and CGroup= lines, and the limit is 8: use a slice that "
	      "contains them\n");
}

/* ---- names and rights ---- */

TEST(test_export)
{
	good("[Export]\nFormat=parquet\nTo=/srv/fleet//\nRun=cp \"$1\" /tmp\n");
	assert_int_equal(c.ship_format, SHIP_PARQUET);
	assert_string_equal(c.ship_to, "/srv/fleet");
	assert_string_equal(c.ship_run, "cp \"$1\" /tmp");
	assert_string_equal(c.directory, "/var/lib/kymo/test");
	good("[Collection]\nCategories=offcpu\n[Export]\nFormat=pprof\nRun=true\n");
	assert_true(collection_is_exported(&c));
	good("[Export]\n");
	assert_false(collection_is_exported(&c));
	wrong("[Export]\nFormat=csv\nTo=fleet\n",
	      "2: Format=: 'csv' is not one of none, parquet, pprof, otlp\n"
	      "3: To=: 'fleet' is not an absolute path without \".\" and \"..\"\n");
	wrong("[Export]\nFormat=parquet\n",
	      "2: Format= has no effect without To= or Run=: add one of them\n");
	wrong("[Collection]\nCategories=sched\n[Export]\nFormat=pprof\nTo=/srv\n",
	      "4: Format=pprof needs 'profile' or 'offcpu' among the categories: other ones have no "
	      "stacks of this kind\n");
}

TEST(test_names)
{
	FILE *f = fmemopen((void *)(uintptr_t) "\n", 1, "r");
	char to[65], longest[80];

	assert_non_null(f);
	*complaints = '\0';
	assert_int_equal(collection_read(f, "a-b", on_complaint, &c, &c), -EINVAL);
	assert_int_equal(strncmp(complaints, "0: ", 3), 0);
	fclose(f);
	assert_string_equal(collection_name_of("/etc/kymo/a_1.conf", to), "a_1");
	assert_string_equal(collection_name_of("b.conf", to), "b");
	assert_null(collection_name_of("b.ini", to));
	assert_null(collection_name_of(".conf", to));
	assert_null(collection_name_of("a.b.conf", to));
	assert_null(collection_name_of("x/", to));
	memset(longest, 'a', 65);
	strcpy(longest + 65, ".conf");
	assert_null(collection_name_of(longest, to));
	assert_non_null(collection_name_of(longest + 1, to));
}

TEST(test_untrusted)
{
	struct stat st = { .st_mode = S_IFREG | 0644 };

	assert_null(collection_untrusted(&st, 0));
	assert_non_null(collection_untrusted(&st, 1));
	st.st_mode = S_IFREG | 0664;
	assert_non_null(collection_untrusted(&st, 0));
	st.st_mode = S_IFREG | 0602;
	assert_non_null(collection_untrusted(&st, 0));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, tear_down)
	static const struct CMUnitTest tests[] = {
		CASE(test_empty),
		CASE(test_collection),
		CASE(test_filter),
		CASE(test_tracepoint_sets),
		CASE(test_categories_of_programs),
		CASE(test_memory),
		CASE(test_output),
		CASE(test_flight),
		CASE(test_every_key),
		CASE(test_lines),
		CASE(test_unknown_keys),
		CASE(test_long_lines),
		CASE(test_bytes),
		CASE(test_many),
		CASE(test_values),
		CASE(test_contradictions),
		CASE(test_export),
		CASE(test_names),
		CASE(test_untrusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
