/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of options on the command line. An option whose value must be looked up here, so that
 * the daemon gets numbers, has its own function. This function gets the text, and returns CLI_OK,
 * or another enum cli_exit after an error message.
 */
#include "cli/options/record-options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/value.h"
#include "capture/options/call-spec.h"
#include "capture/options/filter-values.h"
#include "capture/options/find-cgroup.h"
#include "capture/options/tracepoint-spec.h"
#include "capture/programs/sampler.h"
#include "cli/places/moment-compile.h"
#include "cli/places/process-file.h"
#include "cli/places/static-probes.h"
#include "cli/places/needed-library.h"
#include "cli/places/switching-programs.h"
#include "cli/common/verb.h"
#include "cli/places/call-resolve.h"

typedef int (*parse_fn)(struct record_options *o, const char *name, const char *text);

/* Reports the result of an addition to a filter. */
static int record_options_added(const char *name, int error, const char *why)
{
	if (error == -EINVAL)
		return cli_usage_error("%s: %s", name, why);
	if (error < 0)
		cli_error("%s: %s", name, why);
	return error < 0 ? CLI_FAILED : CLI_OK;
}

/* Calls EACH for each word of TEXT; words are separated by commas. */
static int record_options_parse_list(struct record_options *o, const char *name, const char *text,
				     parse_fn each)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;
	int r = CLI_OK;

	while (r == CLI_OK && (word = strsep(&rest, ",")))
		r = each(o, name, word);
	return r;
}

static int record_options_print_categories(void)
{
	for (const struct category_row *c = category_rows; c->name; c++)
		printf("%-10s %s\n%-10s cost: %s\n", c->name, c->what, "", c->cost);
	for (const struct tracepoint_preset *p = tracepoint_presets; p->name; p++) {
		printf("%-10s %s\n%-10s cost: %s\n%-10s tracepoints:", p->name, p->what, "",
		       p->cost, "");
		for (const char *const *member = p->members; *member; member++)
			printf(" %s", strchr(*member, ':') + 1);
		putchar('\n');
	}
	printf("%-10s sched,profile: the default without -e\n", "default");
	printf("%-10s all available categories except app; memory, fd, shm and threads\n%-10s "
	       "only with a filter\n",
	       "all", "");
	printf("%-10s a tracepoint of the kernel: tp:sched:sched_process_exec; with wildcards and\n%-10s "
	       "conditions: 'tp:block:*[bytes>65536]'\n",
	       "tp:...", "");
	printf("%-10s events of programs in some of their categories: app:render,app:net*\n",
	       "app:...");
	printf("%-10s static probes of a program or library, with their arguments:\n%-10s "
	       "usdt:libstdc++:*, 'usdt:python3:python:import*'\n",
	       STATIC_PROBES_PREFIX "...", "");
	puts("Starts, ends and names of processes and threads are always recorded.");
	return CLI_OK;
}

static int record_options_unknown_category(const char *text)
{
	struct value_nearest near = { .text = text, .distance = VALUE_NEAR };

	for (const struct category_row *c = category_rows; c->name; c++)
		value_nearest_try(&near, c->name);
	for (const struct tracepoint_preset *p = tracepoint_presets; p->name; p++)
		value_nearest_try(&near, p->name);
	if (near.nearest)
		return cli_usage_error("unknown category '%s'; did you mean '%s'?", text,
				       near.nearest);
	return cli_usage_error("unknown category '%s'; '-e help' lists them", text);
}

/* Adds tracepoints: TEXT follows "tp:", or is a set. */
static int record_options_parse_tracepoint(struct record_options *o, const char *name,
					   const char *text)
{
	char why[VALUE_WHY_MAX];
	int r = option_parse(option_of_bus("tracepoints"), &o->session, text, why);

	if (r == 0)
		o->session.categories |= CATEGORY_TRACEPOINTS;
	return record_options_added(name, r, why);
}

/* Adds a pattern of categories of programs, which follows "app:". */
static int record_options_parse_app(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];
	int r = option_parse(option_of_bus("app"), &o->session, text, why);

	if (r == 0)
		o->session.categories |= CATEGORY_APP;
	return record_options_added(name, r, why);
}

/* Keeps TEXT until all options are known, since it can only be resolved then. */
static int record_options_keep(const char *text, char ***list, size_t *n)
{
	char **longer = realloc(*list, (*n + 1) * sizeof(*longer));

	if (longer)
		*list = longer;
	if (!longer || !(longer[*n] = strdup(text)))
		return cli_failed("out of memory");
	++*n;
	return CLI_OK;
}

static int record_options_parse_category(struct record_options *o, const char *name,
					 const char *text)
{
	uint32_t bits;

	if (strncmp(text, STATIC_PROBES_PREFIX, strlen(STATIC_PROBES_PREFIX)) == 0) {
		o->session.categories |= CATEGORY_MOMENTS;
		return record_options_keep(text + strlen(STATIC_PROBES_PREFIX), &o->static_probes,
					   &o->n_static_probes);
	}
	if (strncmp(text, TRACEPOINT_PREFIX, strlen(TRACEPOINT_PREFIX)) == 0)
		return record_options_parse_tracepoint(o, name, text + strlen(TRACEPOINT_PREFIX));
	if (tracepoint_preset_find(text, strcspn(text, "[")))
		return record_options_parse_tracepoint(o, name, text);
	if (strncmp(text, APP_PREFIX, strlen(APP_PREFIX)) == 0)
		return record_options_parse_app(o, name, text + strlen(APP_PREFIX));
	if (strcmp(text, "all") == 0)
		o->all_categories = true;
	else if (strcmp(text, "default") == 0)
		/* (other users cannot know what the service supports, so they get the default) */
		o->session.categories |=
			geteuid() == 0 ? sampler_default_categories() : CATEGORIES_DEFAULT;
	else if (categories_parse(text, &bits, NULL, NULL) < 0)
		return record_options_unknown_category(text);
	else
		o->session.categories |= bits;
	return CLI_OK;
}

/* Parses a list of categories. Conditions of tracepoints can contain commas. */
static int record_options_parse_words(struct record_options *o, const char *name, const char *text)
{
	int r = CLI_OK;

	for (;; text++) {
		size_t n = tracepoint_spec_word(text);
		_cleanup_free_ char *word = strndup(text, n);

		r = word ? record_options_parse_category(o, name, word)
			 : cli_failed("%s: %s", name, strerror(ENOMEM));
		text += n;
		if (r != CLI_OK || *text == '\0')
			return r;
	}
}

static int record_options_parse_categories(struct record_options *o, const char *name,
					   const char *text)
{
	if (strcmp(text, "help") == 0) {
		o->list_categories = true;
		return CLI_OK;
	}
	return record_options_parse_words(o, name, text);
}

/* Replaces "all" by categories, after all filters are known. */
static void record_options_resolve_all_categories(struct record_options *o)
{
	uint32_t bits = 0;

	if (!o->all_categories)
		return;
	for (const struct category_row *c = category_rows; c->name; c++)
		bits |= c->bit;
	if (geteuid() == 0 && !(sampler_default_categories() & CATEGORY_PROFILE))
		bits &= ~(uint32_t)CATEGORY_PROFILE;
	if (!capture_filter_is_set(&o->session.filter) && !o->session.memory.triage)
		bits &= ~(uint32_t)CATEGORIES_MEMORY;
	if (!o->session.calls.n_specs)
		bits &= ~(uint32_t)CATEGORIES_CALLS;
	if (!o->session.moments.n_specs)
		bits &= ~(uint32_t)CATEGORY_MOMENTS;
	if (!o->session.tracepoints.n_specs)
		bits &= ~(uint32_t)CATEGORY_TRACEPOINTS;
	/* (with --direct, only one recording at a time can have events of programs) */
	bits &= ~(uint32_t)CATEGORY_APP;
	if (o->session.own)
		bits &= ~(uint32_t)CATEGORIES_NOT_OWN;
	o->session.categories |= bits;
}

/* Returns the tgid of a thread, or 0. */
static uint64_t record_options_tgid_of(uint64_t tid)
{
	unsigned long long tgid = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f) && sscanf(line, "Tgid: %llu", &tgid) != 1)
		;
	fclose(f);
	return tgid;
}

int record_options_add_pid(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];
	uint64_t pid, tgid;

	if (text_parse_u64(text, INT32_MAX, &pid) < 0 || pid == 0)
		return isalpha((unsigned char)*text)
			       ? cli_usage_error("%s: '%s' is not a process id; 'pgrep -d, %s' "
						 "prints those of a program",
						 name, text, text)
			       : cli_usage_error("%s: '%s' is not a process id", name, text);
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return cli_failed("%s: there is no process %s; 'ps -e' lists them", name, text);
	tgid = record_options_tgid_of(pid);
	if (tgid != 0 && tgid != pid)
		return cli_failed("%s: %s is a thread; its process is %" PRIu64 ": use %s %" PRIu64,
				  name, text, tgid, name, tgid);
	return record_options_added(name, filter_add_pid(&o->session.filter, (uint32_t)pid, why),
				    why);
}

static int record_options_parse_comm(struct record_options *o, const char *name, const char *text)
{
	char why[VALUE_WHY_MAX];

	if (strlen(text) >= REC_COMM_BYTES)
		return cli_usage_error(
			"%s: '%s' has %zu bytes, but the kernel stores only %d of a thread's "
			"name: use '%.*s'",
			name, text, strlen(text), REC_COMM_BYTES - 1, REC_COMM_BYTES - 1, text);
	return record_options_added(name, filter_add_comm(&o->session.filter, text, why), why);
}

/* Adds the N cgroups that were found for TEXT to the filter. If N is a negative errno, it is the
 * reason why none were found. */
static int record_options_add_cgroups(struct record_options *o, const char *name, const char *text,
				      const struct filter_cgroup *list, int n)
{
	char why[VALUE_WHY_MAX];

	if (n >= 0)
		return record_options_added(
			name, filter_add_cgroups(&o->session.filter, list, n, why), why);
	return cli_failed("%s: %s", name, find_cgroup_error(n, text, why));
}

static int record_options_parse_unit(struct record_options *o, const char *name, const char *text)
{
	struct filter_cgroup list[FILTER_CGROUPS_MAX];

	return record_options_add_cgroups(o, name, text, list,
					  find_cgroup_unit(text, list, FILTER_CGROUPS_MAX));
}

static int record_options_parse_cgroup(struct record_options *o, const char *name, const char *text)
{
	struct filter_cgroup one;
	int r = find_cgroup_path(text, &one);

	return record_options_add_cgroups(o, name, text, &one, r < 0 ? r : 1);
}

/*
 * Returns true if FILE is also the file of the previous specification, so that it was already
 * reported. (One option can become several specifications.)
 */
static bool record_options_is_reported(const struct record_options *o, const char *file)
{
	const struct call_options *c = &o->session.calls;
	size_t n = strlen(file);

	return c->n_specs && strncmp(c->specs[c->n_specs - 1], file, n) == 0 &&
	       c->specs[c->n_specs - 1][n] == ':';
}

/* Adds SPEC, and its open file, to the options. */
static int record_options_add_call(struct record_options *o, const char *name, const char *text,
				   const struct call_spec *spec)
{
	struct option_files *files = &o->session.calls.files;
	const struct capture_filter none = { 0 };
	struct process_file file;
	int r;

	if (o->session.calls.n_specs == OPTION_CALLS_MAX)
		return cli_usage_error("%s: at most %d are possible", name, OPTION_CALLS_MAX);
	if (!files->fds)
		files->fds = calloc(OPTION_CALLS_MAX, sizeof(*files->fds));
	if (!files->fds)
		return cli_failed("%s: %s", name, strerror(ENOMEM));
	/* (each specification has an open file) */
	r = process_file_find(call_spec_is_syscall(spec) ? "/proc/self/exe" : spec->file,
			      call_spec_is_syscall(spec) ? &none : &o->session.filter, &file);
	if (r < 0)
		return cli_failed(
			"%s: there is no library or program '%s'; name its path, or find it with 'ldconfig -p'",
			name, spec->file);
	files->fds[files->n] = open(file.path, O_RDONLY | O_CLOEXEC);
	if (files->fds[files->n] < 0)
		return cli_failed("%s: %s: %s", name, file.path, strerror(errno));
	if (!record_options_is_reported(o, spec->file))
		process_file_report(&file, name, spec->file);
	files->n++;
	r = call_options_add(&o->session.calls, text);
	return r < 0 ? cli_failed("%s: %s", name, strerror(-r)) : CLI_OK;
}

/* Adds SPEC, which is in the syntax of the recorder. */
static int record_options_parse_spec(struct record_options *o, const char *name, const char *text)
{
	struct call_spec_error error;
	struct call_spec spec;

	if (call_spec_parse(text, &spec, &error) == 0)
		return record_options_add_call(o, name, text, &spec);
	return cli_usage_error("%s: %s\n%s\n%*s^", name, error.why, text, (int)error.at, "");
}

static int record_options_parse_call(struct record_options *o, const char *name, const char *text)
{
	struct call_resolved resolved = { 0 };
	char why[PLACES_WHY_MAX];
	int e = call_resolve(text, &o->session.filter, &resolved, why), r = CLI_OK;

	if (e < 0)
		return cli_failed("%s: %s", name, *why ? why : strerror(-e));
	for (size_t i = 0; r == CLI_OK && i < resolved.n; i++)
		r = record_options_parse_spec(o, name, resolved.list[i].spec);
	if (r == CLI_OK && resolved.left_out)
		cli_error("%s: %s", name, resolved.left_out);
	if (r == CLI_OK && resolved.refused)
		cli_error("%s: %s", name, resolved.refused);
	if (r == CLI_OK && resolved.clipped)
		cli_error("%s: %s", name, resolved.clipped);
	if (r == CLI_OK && resolved.untyped)
		cli_error("%s: %s", name, resolved.untyped);
	call_resolved_deinit(&resolved);
	return r;
}

/*
 * Refuses programs that switch stacks, because return probes can kill such programs. The recorder
 * examines only the probed files. This function examines the command, and the libraries that these
 * files and the command need.
 */
static int record_options_refuse_switches(const struct record_options *o)
{
	const struct call_options *calls = &o->session.calls;
	struct call_spec_error error;
	struct call_spec spec = { .file = "" };
	char before[CALL_FILE_MAX] = "";
	bool is_probed = false; /* the command itself is probed */
	_cleanup_free_ char *why = NULL;
	int r = 0;

	if (!calls->fast_returns || calls->force_fast_returns)
		return CLI_OK;
	for (size_t i = 0; r == 0 && i < calls->n_specs; i++) {
		if (call_spec_parse(calls->specs[i], &spec, &error) < 0 ||
		    call_spec_is_syscall(&spec) || strcmp(spec.file, before) == 0)
			continue;
		r = switching_programs_check(spec.file, &o->session.filter, &why);
		is_probed |= o->n_rest && strcmp(spec.file, o->rest[0]) == 0;
		memcpy(before, spec.file, sizeof(before));
	}
	if (r == 0 && o->n_rest && *before && !is_probed)
		r = switching_programs_check_command(o->rest[0], &o->session.filter, &why);
	if (r == 0 && o->n_rest && *before)
		r = switching_programs_check_preloaded(o->rest[0], NEEDED_LIBRARY_PRELOAD, &why);
	if (r == 0)
		return CLI_OK;
	cli_error("--fast-returns: %s", why ?: strerror(ENOMEM));
	return o->n_rest ? CLI_COMMAND_FAILED : CLI_FAILED;
}

static int record_options_compile(struct record_options *o)
{
	int r = CLI_OK;

	if (o->collect && o->n_moments == 0 && o->n_static_probes == 0)
		return cli_usage_error("--collect needs --moment or -e usdt:FILE:PROBE");
	for (size_t i = 0; r == CLI_OK && i < o->n_calls; i++)
		r = record_options_parse_call(o, "--call", o->calls[i]);
	if (r == CLI_OK)
		r = record_options_refuse_switches(o);
	for (size_t i = 0; r == CLI_OK && i < o->n_moments; i++)
		r = moment_compile("--moment", o->moments[i], o->collect, &o->session.filter,
				   &o->session.moments);
	for (size_t i = 0; r == CLI_OK && i < o->n_static_probes; i++)
		r = static_probes_compile("-e", o->static_probes[i], o->collect, &o->session.filter,
					  &o->session.moments);
	return r;
}

/* Parses WHAT=LIMIT. */
static int record_options_parse_trigger(struct record_options *o, const char *name,
					const char *text)
{
	size_t n = strcspn(text, "=");
	const struct option_row *row = option_of_trigger(text, n);
	char why[VALUE_WHY_MAX];

	if (!row || text[n] == '\0')
		return cli_usage_error("%s: '%s' is not WHAT=LIMIT; --help lists the possible "
				       "values",
				       name, text);
	if (option_parse(row, &o->session, text + n + 1, why) < 0)
		return cli_usage_error("%s %s: %s", name, row->trigger, why);
	return CLI_OK;
}

static int record_options_parse_plain(struct record_options *o, const char *name, const char *text,
				      const struct option_row *row)
{
	char why[VALUE_WHY_MAX];

	return record_options_added(name, option_parse(row, &o->session, text, why), why);
}

static int record_options_parse_user(struct record_options *o, const char *name, const char *text)
{
	return record_options_parse_plain(o, name, text, option_of_bus("uids"));
}

/* Sets a flag. TEXT, if it is not NULL, is the value of the option that needs the flag. */
static int record_options_set_yes(struct record_options *o, const char *name, const char *text,
				  const struct option_row *row)
{
	option_set(row, &o->session, true);
	OPTION_FOR_EACH(other)
		if (text && other->needs == row->offset)
			return record_options_parse_plain(o, name, text, other);
	return CLI_OK;
}

static int record_options_parse_row(struct record_options *o, const char *name, const char *text,
				    const struct option_row *row)
{
	switch (row->type) {
	case OPTION_CATEGORIES:
		return record_options_parse_categories(o, name, text);
	case OPTION_PIDS:
		return record_options_parse_list(o, name, text, record_options_add_pid);
	case OPTION_USERS:
		return record_options_parse_list(o, name, text, record_options_parse_user);
	case OPTION_TRIGGERS:
		return record_options_parse_list(o, name, text, record_options_parse_trigger);
	case OPTION_COMMS:
		return record_options_parse_comm(o, name, text);
	case OPTION_CALLS:
		return record_options_keep(text, &o->calls, &o->n_calls);
	case OPTION_MOMENTS:
		return record_options_keep(text, &o->moments, &o->n_moments);
	case OPTION_UNIT:
		return record_options_parse_unit(o, name, text);
	case OPTION_CGROUP:
		return record_options_parse_cgroup(o, name, text);
	case OPTION_OWN:
		session_options_set_own(&o->session, getuid());
		return CLI_OK;
	case OPTION_BOOL:
		return record_options_set_yes(o, name, text, row);
	default:
		return record_options_parse_plain(o, name, text ?: row->implied, row);
	}
}

/* ---- the command line ---- */

int record_options_output(void *options, char *value)
{
	struct record_options *o = options;

	if (*value == '\0')
		return cli_usage_error("%s: an empty name", verb_options_typed());
	o->output = value;
	return CLI_OK;
}

/* The destination of an option. */
struct place {
	struct record_options *o;
	const struct option_row *row;
	const char *value; /* the value that an old spelling of the option means */
};

static int record_options_parse_place(void *userdata, char *value)
{
	const struct place *place = userdata;
	struct record_options *o = place->o;

	if (!*o->given)
		snprintf(o->given, sizeof(o->given), "%s", verb_options_typed());
	return record_options_parse_row(o, verb_options_typed(), place->value ?: value, place->row);
}

/* Old names of options, which --help does not show. */
static const struct alias {
	const char *name, *option, *value;
	unsigned verbs;
} aliases[] = {
	{ "all", "triage", NULL, OPTION_OF_LEAKS },
	{ "freeze", "reach", "freeze", OPTION_OF_LEAKS },
	{ "reachability", "reach", "look", OPTION_OF_LEAKS },
};

static int record_options_argument_of(const struct option_row *row)
{
	if (row->flags & OPTION_OPTIONAL)
		return optional_argument;
	return row->type == OPTION_BOOL || row->type == OPTION_OWN ? no_argument
								   : required_argument;
}

static void record_options_add_option(struct verb_option *options, struct place *places, size_t *n,
				      const struct place *place, const char *name)
{
	const struct option_row *row = place->row;

	places[*n] = *place;
	options[*n] = (struct verb_option){
		.name = name,
		.letter = name == row->name ? row->letter : 0,
		.argument = place->value ? no_argument : record_options_argument_of(row),
		.parse = record_options_parse_place,
		.userdata = &places[*n],
	};
	++*n;
}

/* Joins the command line, for the archive. */
static char *record_options_join(int argc, char **argv)
{
	size_t n = sizeof("kymo"), used;
	char *raw, *clean;

	for (int i = 0; i < argc; i++)
		n += strlen(argv[i]) + 1;
	raw = malloc(n);
	clean = malloc(3 * n < 4096 ? 3 * n : 4096);
	if (raw && clean) {
		used = (size_t)sprintf(raw, "kymo");
		for (int i = 0; i < argc; i++)
			used += (size_t)sprintf(raw + used, " %s", argv[i]);
		text_clean(clean, 3 * n < 4096 ? 3 * n : 4096, raw, used);
	}
	free(raw);
	return clean;
}

int record_options_parse(int argc, char **argv, enum option_verb verb,
			 const struct verb_option *own, struct record_options *o)
{
	enum { OWN_MAX = 32 };
	struct verb_option options[OWN_MAX + OPTION_ROWS_MAX + ARRAY_SIZE(aliases) + 1];
	struct place places[ARRAY_SIZE(options)];
	size_t n = 0;
	int r;

	for (; own[n].name && n < OWN_MAX; n++)
		options[n] = own[n];
	OPTION_FOR_EACH(row)
		if (row->name && row->verbs & verb)
			record_options_add_option(options, places, &n,
						  &(struct place){ o, row, NULL }, row->name);
	for (const struct alias *a = aliases; a < aliases + ARRAY_SIZE(aliases); a++)
		if (a->verbs & verb)
			record_options_add_option(
				options, places, &n,
				&(struct place){ o, option_of_name(a->option), a->value }, a->name);
	options[n] = (struct verb_option){ 0 };
	o->session.command = record_options_join(argc, argv);
	r = verb == OPTION_OF_RECORD ? verb_options_parse_command(argc, argv, options)
				     : verb_options_parse(argc, argv, options);
	o->rest = argv + optind;
	o->n_rest = argc - optind;
	o->separated = verb_options_separated();
	if (r == VERB_OPTIONS_GO && o->list_categories)
		return record_options_print_categories();
	return r != VERB_OPTIONS_GO || verb == OPTION_OF_LEAKS ? r : record_options_check(o);
}

/* Reports the first complaint. */
static void record_options_on_complaint(const struct option_row *row, const char *why,
					void *complained)
{
	if (*(bool *)complained)
		return;
	*(bool *)complained = true;
	if (row->trigger)
		cli_usage_error("--trigger %s: %s", row->trigger, why);
	else
		cli_usage_error("%s%s: %s", row->name ? "--" : "", row->name ?: row->bus, why);
}

int record_options_check(struct record_options *o)
{
	unsigned flags = o->n_rest ? OPTION_CHECK_CHOSEN : 0;
	char names[CATEGORIES_TEXT_MAX];
	uint32_t unfiltered;
	bool complained = false;
	int r = record_options_compile(o);

	if (r != CLI_OK)
		return r;
	record_options_resolve_all_categories(o);
	if (o->session.moments.n_specs)
		o->session.categories =
			(o->session.categories ?: CATEGORIES_DEFAULT) | CATEGORY_MOMENTS;
	if (o->session.calls.n_specs)
		o->session.categories =
			(o->session.categories ?: CATEGORIES_DEFAULT) | CATEGORY_CALLS;
	if (option_check(&o->session, flags, record_options_on_complaint, &complained) > 0)
		return CLI_USAGE;
	unfiltered = o->session.categories & CATEGORIES_UNFILTERED;
	if (unfiltered && capture_filter_is_set(&o->session.filter))
		cli_error("filters apply to threads, but these categories are recorded for the "
			  "whole machine: %s",
			  categories_format(names, unfiltered));
	return RECORD_OPTIONS_GO;
}

/* ---- help ---- */

enum { HELP_COLUMN = 28 };

static void record_options_print_line(const char *left, const char *help, const char *usual)
{
	printf("%-*s %s%s%s%s\n", HELP_COLUMN, left, help, usual ? " (" : "", usual ?: "",
	       usual ? ")" : "");
}

static void record_options_print_row(const struct option_row *row)
{
	const char *value = row->placeholder ?: "";
	char left[80], letter[8] = "   ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c,", row->letter);
	snprintf(left, sizeof(left),
		 row->flags & OPTION_OPTIONAL ? "  %s --%s[%s%s]" : "  %s --%s%s%s", letter,
		 row->name, *value ? "=" : "", value);
	record_options_print_line(left, row->help, row->shown);
}

static void record_options_print_triggers(void)
{
	static const char *const limits[] = { "TIME", "SIZE", "N", "SHARE" };
	char left[80];

	puts("Triggers (--trigger):");
	OPTION_FOR_EACH(row) {
		if (!row->trigger)
			continue;
		snprintf(left, sizeof(left), "      %s=%s", row->trigger, limits[row->type]);
		record_options_print_line(left, row->help, row->shown);
	}
}

/* Prints the groups in the order of their first options. */
void record_options_help(enum option_verb verb)
{
	const char *done[OPTION_ROWS_MAX];
	size_t n = 0, i;
	bool triggers = false;

	OPTION_FOR_EACH(first) {
		for (i = 0; i < n && done[i] != first->group; i++)
			;
		if (i < n || !(first->verbs & verb))
			continue;
		puts(first->group);
		done[n++] = first->group;
		OPTION_FOR_EACH(row) {
			if (row->group != first->group || !(row->verbs & verb))
				continue;
			record_options_print_row(row);
			triggers |= row->type == OPTION_TRIGGERS;
		}
	}
	if (triggers)
		record_options_print_triggers();
}

static void record_options_forget(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void record_options_deinit(struct record_options *o)
{
	session_options_deinit(&o->session);
	record_options_forget(o->calls, o->n_calls);
	record_options_forget(o->moments, o->n_moments);
	record_options_forget(o->static_probes, o->n_static_probes);
}
