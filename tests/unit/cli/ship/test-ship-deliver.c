/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converters and hooks that fail, hang, are killed, or leave something else than files. The
 * converter is /proc/self/exe, that is, this program: its main() does what $CONVERTER says.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"
#include "cli/ship/ship-child.h"
#include "cli/ship/ship-deliver.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

#define CHUNK "a-20261130T030100.000000Z-20261130T030159.000000Z.fxt"

enum { HANG_S = 300 };

/* ---- the converter ---- */

static int convert(const char *how, const char *result)
{
	char path[512];

	if (strcmp(how, "killed") == 0)
		raise(SIGKILL);
	if (strcmp(how, "hangs") == 0)
		sleep(HANG_S);
	if (strcmp(how, "fifo") == 0)
		return mkfifo(result, 0600) < 0;
	if (strcmp(how, "directory") == 0) {
		snprintf(path, sizeof(path), "/%s/a/file", result);
		put_text(".", path, "x");
		return CLI_OK;
	}
	snprintf(path, sizeof(path), "/%s", result);
	put_text(".", path, "x");
	fprintf(stderr, "the last block is cut off\n");
	return strcmp(how, "damaged") == 0 ? CLI_DAMAGE : CLI_OK;
}

/* ---- the job ---- */

struct fixture {
	struct collection collection;
	struct ship_job job;
	struct chunk chunk;
	unsigned n_ticks;
	char slow[SHIP_ERROR_MAX];
};

static void on_tick(void *userdata)
{
	struct fixture *f = userdata;

	f->n_ticks++;
	if (*f->job.slow)
		memcpy(f->slow, f->job.slow, sizeof(f->slow));
}

static int open_made(const char *name)
{
	int fd;

	assert_int_equal(mkdir(name, 0700), 0);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	own_directory_set_up(state);
	f->job.chunks_fd = open_made("chunks");
	f->job.staging_fd = open_made("staging");
	f->job.signal_fd = eventfd(0, EFD_CLOEXEC);
	f->job.staging = "staging";
	f->job.collection = &f->collection;
	f->job.tick = on_tick;
	f->job.userdata = f;
	f->job.slow_ms = 3600 * 1000;
	f->collection.ship_format = SHIP_OTLP;
	f->collection.ship_to = strdup(own_directory());
	put_text("chunks", "/" CHUNK, "x");
	snprintf(f->chunk.file, sizeof(f->chunk.file), CHUNK);
	assert_true(chunk_name_parse(CHUNK, "a", &f->chunk.name));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close_fd(f->job.chunks_fd);
	close_fd(f->job.staging_fd);
	close_fd(f->job.signal_fd);
	free(f->collection.ship_to);
	free(f);
	return own_directory_tear_down(state);
}

static enum ship_result deliver(struct fixture *f, const char *how)
{
	/* (/proc/self/exe is valgrind there) */
	if (*how && unit_is_in_valgrind())
		skip();
	setenv("CONVERTER", how, 1);
	return ship_deliver(&f->job, &f->chunk);
}

static void assert_nothing_staged(void)
{
	assert_int_equal(rmdir("staging"), 0);
}

/* ---- tests ---- */

/* Such as by the kernel, for lack of memory. */
TEST(test_converter_killed)
{
	struct fixture *f = *state;

	assert_int_equal(deliver(f, "killed"), SHIP_BAD);
	assert_string_equal(f->job.error, "cannot convert " CHUNK ": killed by signal 9");
	assert_nothing_staged();
}

TEST(test_converter_hangs)
{
	struct fixture *f = *state;

	f->job.convert_limit_ms = 400;
	f->job.slow_ms = 1;
	assert_int_equal(deliver(f, "hangs"), SHIP_BAD);
	assert_string_equal(f->job.error, "cannot convert " CHUNK ": it took more than 0 min");
	assert_true(f->n_ticks >= 2);
	assert_string_equal(f->slow, "the conversion has run for 0 min, for " CHUNK);
	assert_string_equal(f->job.slow, "");
	assert_nothing_staged();
}

TEST(test_converter_leaves_other_things)
{
	struct fixture *f = *state;

	alarm(60 * unit_build_factor());
	assert_int_equal(deliver(f, "fifo"), SHIP_BAD);
	assert_int_equal(deliver(f, "directory"), SHIP_BAD);
	alarm(0);
	assert_string_equal(f->job.error,
			    "cannot convert " CHUNK ": the result has more than files");
	assert_nothing_staged();
}

TEST(test_damaged_chunk)
{
	struct fixture *f = *state;

	assert_int_equal(deliver(f, "damaged"), SHIP_TAKEN);
	assert_string_equal(said, CHUNK " is damaged: the last block is cut off");
	assert_nothing_staged();
}

/* A signal that came meanwhile ends the work before the next chunk. */
TEST(test_signal_before_chunk)
{
	struct fixture *f = *state;

	free(f->collection.ship_to);
	f->collection.ship_to = NULL;
	f->collection.ship_format = SHIP_AS_IT_IS;
	f->collection.ship_run = (char *)"touch ../hooked";
	assert_int_equal(eventfd_write(f->job.signal_fd, 1), 0);
	assert_int_equal(deliver(f, ""), SHIP_STOPPED);
	assert_int_equal(access("staging/" CHUNK, F_OK), -1);
	assert_int_equal(access("hooked", F_OK), -1);
}

/* The process is killed also if it has just begun, and has not called setpgid() yet. */
TEST(test_child_killed_early)
{
	const struct fixture *f = *state;
	const char *argv[] = { "sh", "-c", "sleep 300", NULL };
	struct ship_child child = { .file = "/bin/sh",
				    .argv = argv,
				    .input_fd = -1,
				    .directory_fd = f->job.staging_fd,
				    .signal_fd = f->job.signal_fd };

	assert_int_equal(eventfd_write(f->job.signal_fd, 1), 0);
	alarm(60 * unit_build_factor());
	for (int i = 0; i < 100; i++)
		assert_int_equal(ship_child_run(&child), -ECANCELED);
	alarm(0);
}

/* A process that prints all the time is looked at, too. */
TEST(test_child_prints_all_the_time)
{
	const struct fixture *f = *state;
	const char *argv[] = { "sh", "-c", "while :; do echo x; done", NULL };
	struct ship_child child = { .file = "/bin/sh",
				    .argv = argv,
				    .input_fd = -1,
				    .directory_fd = f->job.staging_fd,
				    .signal_fd = f->job.signal_fd,
				    .keeps_text = true,
				    .limit_ms = 300 };

	alarm(60 * unit_build_factor());
	assert_int_equal(ship_child_run(&child), -ETIME);
	alarm(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_converter_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_converter_hangs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_converter_leaves_other_things, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_chunk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_signal_before_chunk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_child_killed_early, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_child_prints_all_the_time, set_up, tear_down),
	};

	/* export --format otlp -o NAME - */
	if (argc == 7 && strcmp(argv[1], "export") == 0)
		return convert(getenv("CONVERTER"), argv[5]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
