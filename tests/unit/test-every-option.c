/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each option of the table, at its limits and beyond them, on the command line, on the bus and in a
 * profile: all give the same result. The test `made-up-option` is this one with another option.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/options/collection-parse.h"
#include "bus/option-bus.h"
#include "capture/options/options-complete.h"
#include "cli/common/verb.h"
#include "cli/options/record-options.h"
#include "daemon/sessions/session-options-bus.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

enum { WORDS_MAX = 9000 };

static sd_bus *bus; /* shared by all tests */
static int pipe_fds[2], other_fd;

/* The value of an option, and other options that it requires. */
struct
try {
	const struct option_row *row, *needed;
	const char *text; /* as text */
	uint64_t value;   /* for the bus, as a number or boolean */
	size_t n;         /* length of a list */
	const char *category;
	bool filter, flight;
};

/* The result. */
struct answer {
	bool asked, taken;
	uint64_t value; /* or the length of a list */
	char why[600];
};

/* ---- parts of a row ---- */

static struct try make_try(const struct option_row *row)
{
	struct try t = { .row = row, .n = 1 };
	bool triage;

	OPTION_FOR_EACH(needed)
		if (row->needs && needed->offset == row->needs)
			t.needed = needed;
	triage = (t.needed ?: row)->offset == offsetof(struct session_options, memory.triage);
	for (const struct category_row *c = category_rows; c->name && !t.category; c++)
		if (row->categories & c->bit)
			t.category = c->name;
	t.filter = row->categories & CATEGORIES_MEMORY && !triage;
	t.flight = row->mode == OPTION_IN(SESSION_FLIGHT);
	return t;
}

/* Options that are set together on the command line, and separately on the bus. */
static bool is_overhead(const struct option_row *row)
{
	return row->bus && strncmp(row->bus, "max_overhead", 12) == 0;
}

static uint64_t value_of(const struct option_row *row, const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;

	switch (row->type) {
	case OPTION_PIDS:
		return f->n_pids;
	case OPTION_USERS:
		return f->n_uids;
	case OPTION_COMMS:
		return f->n_comms;
	default:
		return option_value(row, o);
	}
}

/* ---- the command line ---- */

static struct record_options options;

static bool has_words(const struct option_row *row)
{
	return row->name || row->trigger || row->needs || is_overhead(row);
}

static char *word_of(const struct try *t)
{
	const struct option_row *row = t->row;
	char *word;
	int n;

	if (row->trigger)
		n = asprintf(&word, "--trigger=%s=%s", row->trigger, t->text);
	else if (is_overhead(row))
		n = asprintf(&word, "--max-overhead=%s", t->text);
	else if (t->needed)
		n = asprintf(&word, "--%s=%s", t->needed->name, t->text);
	else
		n = asprintf(&word, "--%s%s%s", row->name, t->text ? "=" : "", t->text ?: "");
	assert_true(n > 0);
	return word;
}

static void ask_command_line(const struct try *t, struct answer *ret)
{
	static char *words[WORDS_MAX];
	const struct verb_option own[] = { RECORD_OPTION_ROWS(&options), { 0 } };
	char category[64], *word = word_of(t);
	int n = 0;

	words[n++] = (char *)"record";
	if (t->category) {
		snprintf(category, sizeof(category), "--events=%s", t->category);
		words[n++] = category;
	}
	if (t->filter)
		words[n++] = (char *)"--uid=0";
	if (t->flight)
		words[n++] = (char *)"--mode=flight";
	for (size_t i = 0; i < t->n; i++)
		words[n++] = word;
	words[n] = NULL;
	record_options_deinit(&options);
	options = (struct record_options){ 0 };
	*said = '\0';
	optind = 0;
	ret->asked = true;
	ret->taken = record_options_parse(n, words, OPTION_OF_RECORD, own, &options) ==
		     RECORD_OPTIONS_GO;
	ret->value = value_of(t->row, &options.session);
	snprintf(ret->why, sizeof(ret->why), "%s", said);
	free(word);
}

/* ---- the bus ---- */

static sd_bus_message *begin(bool flight)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(bus, &m, "a.b", "/", "a.b", "c") >= 0);
	assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
	if (!flight)
		assert_true(sd_bus_message_append(m, "{sv}", "output", "h", pipe_fds[1]) >= 0);
	return m;
}

static void end(sd_bus_message *m, const struct option_row *row, struct answer *ret)
{
	struct create_request request = { .output_fd = -1 };
	sd_bus_error e = SD_BUS_ERROR_NULL;

	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	ret->asked = true;
	ret->taken = create_request_read(m, 0, &request, &e) == 0;
	if (ret->taken)
		ret->value = value_of(row, &request.options);
	snprintf(ret->why, sizeof(ret->why), "%s", e.message ?: "");
	create_request_deinit(&request);
	sd_bus_error_free(&e);
	sd_bus_message_unref(m);
}

static void append_value(sd_bus_message *m, const struct try *t)
{
	const char *type = option_bus_type(t->row);

	if (*type == 't')
		sd_bus_message_append(m, type, t->value);
	else if (*type == 'b')
		sd_bus_message_append(m, type, (int)t->value);
	else if (*type == 's')
		sd_bus_message_append(m, type, t->text);
	else
		sd_bus_message_open_container(m, 'a', type + 1);
	if (*type != 'a')
		return;
	for (size_t i = 0; i < t->n; i++)
		if (type[1] == 'u')
			sd_bus_message_append(m, "u", atoi(t->text));
		else
			sd_bus_message_append(m, "s", t->text);
	sd_bus_message_close_container(m);
}

static void ask_bus(const struct try *t, struct answer *ret)
{
	bool mode = t->row->offset == offsetof(struct session_options, mode);
	sd_bus_message *m = begin(t->flight);

	if (t->category)
		sd_bus_message_append(m, "{sv}", "categories", "as", 1, t->category);
	if (t->filter)
		sd_bus_message_append(m, "{sv}", "uids", "au", 1, 0);
	if (t->flight && !mode)
		sd_bus_message_append(m, "{sv}", "mode", "s", "flight");
	if (t->needed)
		sd_bus_message_append(m, "{sv}", t->needed->bus, "b", 1);
	if (t->row->trigger) {
		sd_bus_message_append(m, "{sv}", "triggers", "a{st}", 1, t->row->trigger, t->value);
	} else {
		sd_bus_message_open_container(m, 'e', "sv");
		sd_bus_message_append(m, "s", t->row->bus);
		sd_bus_message_open_container(m, 'v', option_bus_type(t->row));
		append_value(m, t);
		sd_bus_message_close_container(m);
		sd_bus_message_close_container(m);
	}
	end(m, t->row, ret);
}

/* The result of the command line, as the command sends it. */
static void ask_sent(const struct option_row *row, struct answer *ret)
{
	sd_bus_message *m = begin(options.session.mode == SESSION_FLIGHT);

	assert_true(option_bus_append(m, &options.session, false) >= 0);
	end(m, row, ret);
}

/* ---- a collection ---- */

static void on_complaint(unsigned line, const char *text, void *userdata)
{
	struct answer *a = userdata;

	(void)line;
	snprintf(a->why, sizeof(a->why), "%s", text);
}

static void ask_profile(const struct try *t, struct answer *ret)
{
	char *text = NULL;
	struct collection c = { 0 };
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (t->category)
		fprintf(f, "[Collection]\nCategories=%s\n", t->category);
	if (t->filter)
		fprintf(f, "[Filter]\nUser=0\n");
	if (t->flight && t->row->type != OPTION_CHOICE)
		fprintf(f, "[Collection]\nMode=flight\n");
	if (t->needed)
		fprintf(f, "[%s]\n%s=yes\n", t->needed->section, t->needed->key);
	fprintf(f, "[%s]\n", t->row->section);
	for (size_t i = 0; i < t->n; i++)
		fprintf(f, "%s=%s\n", t->row->key,
			t->text
				?: t->row->flags & OPTION_NEGATED ? "no"
								  : "yes");
	/* (the form of an export needs one) */
	if (strcmp(t->row->section, "Export") == 0 && t->row->type == OPTION_CHOICE)
		fprintf(f, "To=/srv/fleet\n");
	fclose(f);
	f = fmemopen(text, size, "r");
	ret->asked = true;
	ret->taken = collection_read(f, "test", on_complaint, ret, &c) == 0;
	ret->value = value_of(t->row, &c.session);
	fclose(f);
	collection_deinit(&c);
	free(text);
}

/* ---- all of them ---- */

enum { COMMAND_LINE, BUS, SENT, PROFILE, WAYS_MAX };

static const char *const ways[] = { "the command line", "the bus", "a command's call",
				    "a collection" };

/* ZERO is the bus's value for the default. */
static void check(const struct try *t, bool taken, uint64_t value)
{
	const struct option_row *row = t->row;
	struct answer answers[WAYS_MAX] = { 0 };
	bool zero = option_is_number(row) && t->value == 0;
	size_t n = 0;

	if (has_words(row))
		ask_command_line(t, &answers[COMMAND_LINE]);
	if (answers[COMMAND_LINE].taken && (option_bus_type(row) || row->trigger))
		ask_sent(row, &answers[SENT]);
	if ((option_bus_type(row) || row->trigger) && !zero)
		ask_bus(t, &answers[BUS]);
	if (row->key)
		ask_profile(t, &answers[PROFILE]);
	for (unsigned i = 0; i < WAYS_MAX; i++) {
		const struct answer *a = &answers[i];

		if (!a->asked)
			continue;
		n++;
		if (a->taken != taken || (taken && a->value != value) || (!taken && !*a->why))
			fail_msg("%s says otherwise of %s, %s (%" PRIu64 "): taken %d, %" PRIu64 ", %s",
				 ways[i], row->name ?: row->bus ?: row->key, t->text ?: "yes",
				 t->value, a->taken, a->value, a->why);
	}
	assert_true(n > 0);
}

static void check_number(const struct option_row *row, uint64_t value)
{
	struct try t = make_try(row);
	char text[80];

	if (row->type == OPTION_TIME)
		snprintf(text, sizeof(text), "%" PRIu64 "ns", value);
	else if (is_overhead(row) && strstr(row->bus, "machine") == NULL)
		snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64 "cpu", value / 1000000,
			 value % 1000000);
	else if (row->type == OPTION_SHARE)
		snprintf(text, sizeof(text), "%" PRIu64 ".%04" PRIu64 "%%", value / 10000,
			 value % 10000);
	else
		snprintf(text, sizeof(text), "%" PRIu64, value);
	t.text = text;
	t.value = value;
	check(&t, value >= row->min && value <= row->max, value);
}

TEST(test_numbers)
{
	size_t n = 0;

	OPTION_FOR_EACH(row) {
		if (!option_is_number(row))
			continue;
		assert_true(row->min > 0 && row->min < row->max && row->max <= INT64_MAX);
		check_number(row, row->min);
		check_number(row, row->max);
		check_number(row, row->min - 1);
		check_number(row, row->max + 1);
		n++;
	}
	assert_true(n >= 25);
}

TEST(test_choices)
{
	OPTION_FOR_EACH(row) {
		struct try t = make_try(row);

		for (unsigned i = 0; row->choice && row->choice(i); i++) {
			t.text = row->choice(i);
			t.flight = t.flight || strcmp(t.text, "flight") == 0;
			if (*t.text)
				check(&t, true, i);
		}
		t.text = "nonsense";
		if (row->choice)
			check(&t, false, 0);
	}
}

TEST(test_flags)
{
	OPTION_FOR_EACH(row) {
		struct try t = make_try(row);

		t.value = 1;
		if (row->type == OPTION_BOOL)
			check(&t, true, 1);
	}
}

/* The maximum number, and one more. */
TEST(test_lists)
{
	static const char *const texts[OPTION_TYPES_MAX] = {
		[OPTION_PIDS] = "1",
		[OPTION_USERS] = "0",
		[OPTION_COMMS] = "x",
	};

	OPTION_FOR_EACH(row) {
		struct try t = make_try(row);

		t.text = texts[row->type];
		t.n = row->n_max;
		if (!t.text)
			continue;
		t.value = 1;
		check(&t, true, row->n_max);
		t.n++;
		check(&t, false, 0);
	}
}

/* Requirements of options are the same everywhere. */
TEST(test_needs)
{
	OPTION_FOR_EACH(row) {
		struct try t = make_try(row);
		char text[32];

		if (!option_is_number(row) || option_is_of_profile(row) ||
		    !(row->categories || row->mode || row->needs))
			continue;
		t.value = row->min == row->usual ? row->max : row->min;
		snprintf(text, sizeof(text), "%" PRIu64 "%s", t.value,
			 row->type == OPTION_TIME ? "ns" : "");
		t.text = text;
		t.filter = false;
		t.category = row->categories ? "irq" : NULL;
		t.flight = row->mode == OPTION_IN(SESSION_STREAM);
		check(&t, false, 0);
	}
}

static bool is_text_of(const struct option_row *row, const char *text, uint64_t value)
{
	char why[VALUE_WHY_MAX];
	uint64_t n;

	return text && value_parse((enum value_unit)row->type, text, 0, INT64_MAX, &n, why) == 0 &&
	       n == value;
}

/* Rows are complete: names are unique, lines of --help are correct, defaults are within bounds. */
TEST(test_rows)
{
	OPTION_FOR_EACH(row) {
		assert_true(!row->name || (row->verbs && row->group && row->help));
		assert_true(!row->bus || option_bus_type(row));
		assert_true(!row->key == !row->section);
		assert_true(!row->name || option_of_name(row->name) == row);
		assert_true(!row->bus || option_of_bus(row->bus) == row);
		assert_true(!row->trigger ||
			    option_of_trigger(row->trigger, strlen(row->trigger)) == row);
		if (option_is_number(row) && row->usual)
			assert_true(row->usual >= row->min && row->usual <= row->max);
		if (option_is_number(row) && row->usual && row->shown)
			assert_true(is_text_of(row, row->shown, row->usual));
	}
}

#ifdef OPTION_MADE_UP_ROW
/* One row is enough for all interfaces. */
TEST(test_made_up)
{
	struct session_options o = { .name = "x", .categories = CATEGORY_OFFCPU };
	char *text;

	assert_int_equal(session_options_complete(&o), 0);
	assert_int_equal(o.made_up_ns, 1000000000); /* (this is the hook that uses it) */
	text = session_options_describe(&o);
	assert_non_null(strstr(text, " made_up=1.00 s"));
	free(text);
	o.made_up_ns = 1;
	assert_int_equal(session_options_complete(&o), -EINVAL);
}
#endif

FIXTURE(setup)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	other_fd = fds[1];
	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_fd(bus, fds[0], fds[0]) >= 0);
	assert_true(sd_bus_negotiate_fds(bus, true) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	return 0;
}

FIXTURE(teardown)
{
	record_options_deinit(&options);
	sd_bus_close_unref(bus);
	close(other_fd);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),    cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_choices), cmocka_unit_test(test_flags),
		cmocka_unit_test(test_lists),   cmocka_unit_test(test_needs),
#ifdef OPTION_MADE_UP_ROW
		cmocka_unit_test(test_made_up),
#endif
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
