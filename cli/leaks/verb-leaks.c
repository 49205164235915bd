/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo leaks: what programs allocated and did not free, from an archive, or from a recording made for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string-table.h"
#include "base/text.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/part-options.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"

enum { TOP_SHOWN = 20, WORDS_MAX = 512 };

#define CATEGORIES_WATCHED "memory,fd,shm,threads"
/* (to look at system calls would cost all processes) */
#define CATEGORIES_OF_ALL "memory,threads"

struct request {
	struct leaks_request leaks;
	struct part_ids pids;
	/* What a recording is asked for. */
	char *words[WORDS_MAX];
	char triage[64]; /* the word for --all */
	int n_words;
	const char *categories;
	const char *recorded; /* the first option that only recordings have, or NULL */
	bool has_top;
};

/* ---- options of the recording ---- */

struct live_option {
	struct request *q;
	const char *name; /* as record_options_parse() knows it */
	bool of_files;    /* archives are asked for it, too */
};

static int add_word(struct request *q, char *word)
{
	if (q->n_words == WORDS_MAX - 1)
		return cli_usage_error("there are too many words");
	q->words[q->n_words++] = word;
	return CLI_OK;
}

static int verb_leaks_take_live(void *option, char *value)
{
	struct live_option *o = option;
	int r = add_word(o->q, (char *)o->name);

	if (!o->of_files && !o->q->recorded)
		o->q->recorded = o->name;
	return r == CLI_OK && value ? add_word(o->q, value) : r;
}

static int take_pids(void *option, char *value)
{
	struct live_option *o = option;
	int r = verb_leaks_take_live(option, value);
	_cleanup_free_ char *copy = strdup(value);

	if (r == CLI_OK && !copy)
		r = CLI_FAILED;
	return r == CLI_OK ? part_options_pids(&o->q->pids, copy) : r;
}

static int verb_leaks_take_categories(void *request, char *value)
{
	struct request *q = request;

	q->categories = value;
	q->recorded = q->recorded ?: "-e";
	return CLI_OK;
}

/* ---- options of the report ---- */

/* Says which words there are. */
static int say_words(const char *option, const char *word, const char *const *names, unsigned n)
{
	char list[128] = "";

	for (unsigned i = 0; i < n; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 names[i]);
	return cli_usage_error("--%s: there is no '%s'; there are: %s", option, word, list);
}

/* Sets a bit for each of the words of VALUE that is one of N NAMES; '-' may stand for a space. */
static int verb_leaks_take_words(const char *option, char *value, const char *const *names,
				 unsigned n, uint32_t *to)
{
	char *word;

	while ((word = strsep(&value, ","))) {
		int i;

		for (char *c = word; *c; c++)
			*c = *c == '-' ? ' ' : *c;
		i = string_table_find(names, n, word);
		if (i < 0)
			return say_words(option, word, names, n);
		*to |= 1u << i;
	}
	return CLI_OK;
}

static int take_resources(void *to, char *value)
{
	return verb_leaks_take_words("resource", value, resource_names, RESOURCE_MAX, to);
}

static int take_verdicts(void *to, char *value)
{
	return verb_leaks_take_words("verdict", value, leak_verdict_names, LEAK_VERDICT_MAX, to);
}

static int verb_leaks_take_size(const char *option, const char *value, uint64_t *to)
{
	return text_parse_size(value, to) < 0
		       ? cli_usage_error("--%s takes a size (4096, 64K, 1M), not '%s'", option,
					 value)
		       : CLI_OK;
}

static int take_min_bytes(void *to, char *value)
{
	return verb_leaks_take_size("min-bytes", value, to);
}

static int take_fail_over(void *request, char *value)
{
	struct request *q = request;

	q->leaks.has_fail_over = true;
	return verb_leaks_take_size("fail-over", value, &q->leaks.fail_over);
}

static int take_min_blocks(void *to, char *value)
{
	return text_parse_u64(value, UINT64_MAX, to) < 0
		       ? cli_usage_error("--min-blocks takes a number, not '%s'", value)
		       : CLI_OK;
}

static int take_min_age(void *to, char *value)
{
	return text_parse_time(value, to) < 0
		       ? cli_usage_error("--min-age takes a time (10s, 5m), not '%s'", value)
		       : CLI_OK;
}

static int verb_leaks_take_top(void *request, char *value)
{
	struct request *q = request;

	q->has_top = true;
	return text_parse_u64(value, UINT32_MAX, &q->leaks.top) < 0
		       ? cli_usage_error("--top takes a number, not '%s'", value)
		       : CLI_OK;
}

static int take_suppressions(void *suppressions, char *value)
{
	return suppressions_read(suppressions, value);
}

/* ---- the work ---- */

/* Nothing of W is worth a word: a process on its way to another program. */
static bool is_passing(const struct leak_watch *w)
{
	return !w->complete && strcmp(w->reason, "exec") == 0 && w->n_groups == 0 && w->lost == 0 &&
	       w->full == 0;
}

static void leave_out_passing(struct leaks *l)
{
	size_t n = 0, left = 0;

	for (size_t i = 0; i < l->n_watches; i++)
		left += !is_passing(l->watches[i]);
	for (size_t i = 0; left > 0 && i < l->n_watches; i++) {
		if (is_passing(l->watches[i]))
			leak_watch_free(l->watches[i]);
		else
			l->watches[n++] = l->watches[i];
	}
	l->n_watches = left > 0 ? n : l->n_watches;
}

/* Bytes of all that is shown. */
static double bytes_shown(const struct leaks *l)
{
	double bytes = 0;

	for (size_t i = 0; i < l->n_watches; i++)
		for (size_t j = 0; j < l->watches[i]->n_groups; j++)
			bytes += l->watches[i]->groups[j]->all.bytes;
	return bytes;
}

static int write_files(struct request *q, struct leaks_input *in, int fd)
{
	const struct leaks_request *o = &q->leaks;
	int r = CLI_OK;

	if (o->rtrace)
		r = leaks_write_rtrace(in,
				       &(struct leaks_rtrace_args){ .directory = o->rtrace,
								    .force = o->force,
								    .spec_time = o->spec_time });
	if (r == CLI_OK && o->pprof)
		r = leaks_write_pprof(in, o, fd);
	if (r == CLI_OK && o->folded)
		r = leaks_write_folded(in, o, fd);
	return r;
}

static int check_limit(const struct leaks_request *o, const struct leaks_input *in)
{
	double bytes = bytes_shown(in->leaks);
	char size[TEXT_FORMAT_MAX], limit[TEXT_FORMAT_MAX];

	if (!o->has_fail_over || bytes <= (double)o->fail_over)
		return CLI_OK;
	cli_error("%s are not freed, which is over %s (--fail-over)",
		  text_format_size(size, (uint64_t)llround(bytes)),
		  text_format_size(limit, o->fail_over));
	return CLI_FOUND;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static bool writes_to_stdout(const struct leaks_request *o)
{
	return is_stdout(o->pprof) || is_stdout(o->folded);
}

static int verb_leaks_show(struct request *q, struct leaks_input *in, struct leaks_input *old,
			   int fd)
{
	struct leaks_diff diff = { 0 };
	int r = old ? leaks_diff_init(&diff, old) : 0, status;

	/* What goes to standard output stands there alone. */
	if (r == 0 && !writes_to_stdout(&q->leaks))
		r = q->leaks.json ? leaks_print_json(in, &q->leaks, old ? &diff : NULL)
				  : leaks_print(in, &q->leaks, old ? &diff : NULL);
	leaks_diff_deinit(&diff);
	if (r < 0) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	status = write_files(q, in, fd);
	return status == CLI_OK ? check_limit(&q->leaks, in) : status;
}

static int verb_leaks_read_input(struct request *q, struct leaks_input *in, struct open_trace *t,
				 struct symbols *symbols)
{
	struct suppressions *s = &q->leaks.suppressions;
	int r;

	/* (what was kept back of another archive does not count) */
	for (size_t i = 0; i < s->n; i++)
		s->list[i].n_groups = s->list[i].n_blocks = s->list[i].n_bytes = 0;
	r = leaks_input_read(in, &q->leaks, t, symbols);
	if (r == CLI_OK)
		leave_out_passing(in->leaks);
	return r;
}

static int verb_leaks_report(struct request *q, const char *path, const char *name)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL, old_t = OPEN_TRACE_NULL;
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(leaks_input_deinit) struct leaks_input in = { 0 }, old = { 0 };
	int r = open_trace(&t, path);

	t.name = name;
	if (r == CLI_OK && q->leaks.old)
		r = open_trace(&old_t, q->leaks.old);
	if (r == CLI_OK)
		r = symbol_options_open(&q->leaks.symbols, &symbols);
	if (r == CLI_OK && q->leaks.old)
		r = verb_leaks_read_input(q, &old, &old_t, symbols);
	if (r == CLI_OK)
		r = verb_leaks_read_input(q, &in, &t, symbols);
	if (r == CLI_OK)
		r = verb_leaks_show(q, &in, q->leaks.old ? &old : NULL, t.fd);
	return r == CLI_OK && (in.damaged || old.damaged) ? CLI_DAMAGE : r;
}

/* Puts the words of the recording together, and those of the COMMAND behind them. */
static int make_words(struct request *q, char **command)
{
	int r = CLI_OK;

	if (q->leaks.output)
		r = add_word(q, (char *)"-o") ?: add_word(q, (char *)q->leaks.output);
	if (r == CLI_OK && q->leaks.force)
		r = add_word(q, (char *)"--force");
	if (r == CLI_OK)
		r = add_word(q, (char *)"-e")
			    ?: add_word(q, (char *)(q->categories
							    ?: *q->triage ? CATEGORIES_OF_ALL
									  : CATEGORIES_WATCHED));
	if (r == CLI_OK && *command)
		r = add_word(q, (char *)"--");
	for (; r == CLI_OK && *command; command++)
		r = add_word(q, *command);
	return r;
}

/*
 * What the process exits with after a command that exited with COMMAND_STATUS, where the recording and the report came to
 * R: as that says, but for what --fail-over was asked to find out.
 */
static int exit_of_command(const struct request *q, int command_status, int r)
{
	if (r == CLI_FOUND)
		return r;
	if (r != CLI_OK && r != CLI_DAMAGE)
		return CLI_COMMAND_FAILED;
	/* (of what was lost nobody knows whether it would have been over it) */
	if (command_status == 0 && q->leaks.has_fail_over)
		return r;
	return command_status;
}

static int record_and_report(struct request *q, char **command)
{
	struct leaks_live live = { .words = q->words, .command_status = -1 };
	_cleanup_close_ int fd = -1;
	char path[64];
	int r = make_words(q, command), recorded;

	if (r != CLI_OK)
		return r;
	live.n_words = q->n_words;
	recorded = leaks_record(&live, &fd);
	if (fd < 0)
		return recorded;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* What was chosen is all that was recorded: its children have other ids. */
	q->leaks.n_pids = 0;
	r = verb_leaks_report(q, path, q->leaks.output ?: "the recording");
	if (r == CLI_OK)
		r = recorded;
	return live.command_status >= 0 ? exit_of_command(q, live.command_status, r) : r;
}

static int verb_leaks_check(const struct request *q, int n_files, bool separated, const char *file)
{
	const struct leaks_request *o = &q->leaks;

	if (n_files > 0 && !separated && q->recorded)
		return cli_usage_error("%s is for a recording; '%s' was made already", q->recorded,
				       file);
	if (n_files > 0 && !separated && o->output)
		return cli_usage_error("-o is for a recording; there is --pprof, --folded and "
				       "--rtrace for what comes of '%s'",
				       file);
	if (n_files > 1 && !separated)
		return cli_usage_error("it takes one FILE, or '-' for standard input; a command "
				       "comes behind '--'");
	if (n_files == 0 && separated)
		return cli_usage_error("there is no command after '--'");
	if (n_files == 0 && q->n_words == 1)
		return cli_usage_error("say which archive, which processes (-p PID or --all), "
				       "or which command (-- COMMAND)");
	if (writes_to_stdout(o) && (o->json || (is_stdout(o->pprof) && is_stdout(o->folded))))
		return cli_usage_error("two of --json, '--pprof -' and '--folded -' would write to "
				       "the same place");
	if (is_stdout(o->output))
		return cli_usage_error("the archive cannot go to standard output: the report does");
	if (is_stdout(o->old) && n_files > 0 && is_stdout(file))
		return cli_usage_error("only one archive can come from standard input");
	return CLI_OK;
}

static void verb_leaks_request_deinit(struct request *q)
{
	suppressions_deinit(&q->leaks.suppressions);
}

static void verb_leaks_settle(struct request *q)
{
	struct leaks_request *o = &q->leaks;

	if (!q->has_top)
		o->top = o->json ? UINT64_MAX : TOP_SHOWN;
	o->pids = q->pids.list;
	o->n_pids = q->pids.n;
	if (o->suppressions.n_mangled)
		cli_error("--suppressions: %zu mangled names with wildcards match nothing: names "
			  "are compared as they are shown",
			  o->suppressions.n_mangled);
}

/* --all: of all processes, those that grow. */
static int take_all(void *userdata, char *value)
{
	struct request *q = userdata;
	int n = snprintf(q->triage, sizeof(q->triage), "--triage%s%s", value ? "=" : "",
			 value ?: "");

	if ((size_t)n >= sizeof(q->triage))
		return cli_usage_error("--all: '%s' is not a time", value);
	q->recorded = q->recorded ?: "--all";
	q->leaks.of_growing = true;
	return add_word(q, q->triage);
}

static int ask_for_reach(struct request *q, const char *option, const char *how)
{
	q->recorded = q->recorded ?: option;
	return add_word(q, (char *)"--reach") ?: add_word(q, (char *)how);
}

static int take_reachability(void *userdata, char *value)
{
	(void)value;
	return ask_for_reach(userdata, "--reachability", "look");
}

static int take_freeze(void *userdata, char *value)
{
	(void)value;
	return ask_for_reach(userdata, "--freeze", "freeze");
}

#define LIVE(option, short_option, word)                                                           \
	OPTION_VALUE(option, short_option, verb_leaks_take_live,                                   \
		     (&(struct live_option){ &q, word, false }))
#define LIVE_PLAIN(option)                                                                         \
	OPTION_PLAIN(option, verb_leaks_take_live,                                                 \
		     (&(struct live_option){ &q, "--" option, false }))

static int verb_leaks(int argc, char **argv)
{
	_cleanup_(verb_leaks_request_deinit) struct request q = { .words = { argv[0] },
								  .n_words = 1 };
	struct leaks_request *o = &q.leaks;
	const struct verb_option options[] = {
		{ .name = "all", .argument = optional_argument, .take = take_all, .userdata = &q },
		LIVE("buffer", 'b', "-b"),
		LIVE("bus", 0, "--bus"),
		LIVE("cgroup", 0, "--cgroup"),
		LIVE("comm", 0, "--comm"),
		OPTION_TEXT("context", 0, &o->context),
		OPTION_TEXT("diff", 0, &o->old),
		LIVE_PLAIN("direct"),
		LIVE("duration", 'd', "-d"),
		OPTION_VALUE("events", 'e', verb_leaks_take_categories, &q),
		OPTION_VALUE("fail-over", 0, take_fail_over, &q),
		OPTION_TEXT("folded", 0, &o->folded),
		OPTION_FLAG("force", &o->force),
		OPTION_PLAIN("freeze", take_freeze, &q),
		OPTION_FLAG("json", &o->json),
		LIVE("max-size", 0, "--max-size"),
		LIVE("memory-blocks", 0, "--memory-blocks"),
		LIVE("memory-interval", 0, "--memory-interval"),
		LIVE_PLAIN("memory-log"),
		LIVE("memory-min", 0, "--memory-min"),
		OPTION_VALUE("min-age", 0, take_min_age, &o->min_age_ns),
		OPTION_VALUE("min-blocks", 0, take_min_blocks, &o->min_blocks),
		OPTION_VALUE("min-bytes", 0, take_min_bytes, &o->min_bytes),
		OPTION_TEXT("output", 'o', &o->output),
		OPTION_VALUE("pid", 'p', take_pids, (&(struct live_option){ &q, "-p", true })),
		OPTION_TEXT("pprof", 0, &o->pprof),
		OPTION_PLAIN("reachability", take_reachability, &q),
		OPTION_VALUE("resource", 0, take_resources, &o->resources),
		OPTION_TEXT("rtrace", 0, &o->rtrace),
		OPTION_FLAG("spec-time", &o->spec_time),
		OPTION_VALUE("suppressions", 0, take_suppressions, &o->suppressions),
		OPTION_VALUE("top", 0, verb_leaks_take_top, &q),
		LIVE_PLAIN("own"),
		LIVE("uid", 0, "--uid"),
		LIVE("unit", 0, "--unit"),
		LIVE("usage-interval", 0, "--usage-interval"),
		OPTION_VALUE("verdict", 0, take_verdicts, &o->verdicts),
		SYMBOL_NONE_ROW(&o->symbols),
		SYMBOL_PLACE_ROWS(&o->symbols),
		{ 0 },
	};
	int r = verb_options_parse(argc, argv, options);
	bool separated;

	if (r != VERB_OPTIONS_GO)
		return r;
	separated = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
	r = verb_leaks_check(&q, argc - optind, separated, argv[optind]);
	if (r != CLI_OK)
		return r;
	verb_leaks_settle(&q);
	if (separated || optind == argc)
		return record_and_report(&q, argv + optind);
	return verb_leaks_report(&q, argv[optind], argv[optind]);
}

const struct verb verb_leaks_row = {
	.name = "leaks",
	.synopsis = "[OPTION ...] FILE | -p PID ... | --all | -- COMMAND [ARGUMENT ...]",
	.what = "Show what programs allocated and did not free: memory, descriptors and more",
	.options =
		"Of the report:\n"
		"      --top=N            show N stacks of each process (20; all with --json)\n"
		"      --resource=WHICH   only memory, mapping, fd, segment, attachment, shm, thread\n"
		"      --verdict=WHICH    only lost, indirectly-lost, possibly-lost, growing, unfreed,\n"
		"                         still-reachable, old, steady, young\n"
		"      --min-bytes=SIZE   only stacks with as many bytes that live\n"
		"      --min-blocks=N     only stacks with as many blocks\n"
		"      --min-age=TIME     only blocks that are as old\n"
		"      --context=NAME     only blocks that were allocated in this context\n"
		"      --suppressions=FILE  not what FILE has, in valgrind's or LeakSanitizer's way\n"
		"      --diff=OLD         say what there was in the archive OLD, too\n"
		"      --fail-over=SIZE   exit with 4 if what is left by all these is over SIZE\n"
		"      --json             print all of it as JSON\n"
		"      --pprof=OUT        write a profile for pprof, gzip'ed\n"
		"      --folded=OUT       write folded stacks, weighted by bytes\n"
		"      --rtrace=DIR       write PID-N.rtrace.txt to DIR, for 'kymo postprocess' and others\n"
		"      --spec-time        with microseconds there, which other readers take for milliseconds\n"
		"      --force            write over existing files\n" SYMBOL_NONE_HELP
			SYMBOL_PLACE_HELP "Of a recording, where there is no FILE:\n"
		"  -p, --pid=PID,...      these processes, with their children (of a FILE: only these)\n"
		"      --all[=TIME]       of all processes those that grow; looks each TIME (5s)\n"
		"  -d, --duration=TIME    for so long (until Ctrl-C, or while COMMAND runs)\n"
		"  -e, --events=WHICH     what is watched (" CATEGORIES_WATCHED ")\n"
		"  -o, --output=ARCHIVE   keep what was recorded\n"
		"      --comm=NAME, --uid=USER, --unit=UNIT, --cgroup=PATH, --own\n"
		"                         processes that are chosen otherwise, as by 'kymo record'\n"
		"      --memory-log       record each allocation and each deallocation\n"
		"      --memory-interval=SIZE  take one block each SIZE bytes, at random\n"
		"      --memory-min=SIZE  pass over smaller blocks\n"
		"      --memory-blocks=N  remember N blocks at once (1000000)\n"
		"      --reachability     say at the end which blocks nothing leads to\n"
		"      --freeze           the same, while the process stands still; COMMAND is held at\n"
		"                         its exit with either\n"
		"      --usage-interval=TIME  between two looks at what grows (1s)\n"
		"  -b, --buffer=SIZE      ring of each CPU (4M)\n"
		"      --max-size=SIZE    stop when the archive has this size\n"
		"      --direct           record in this process, without the service\n"
		"      --bus=ADDRESS      the bus of the service (the system bus)\n"
		"  -h, --help             show this\n"
		"\nFILE is an archive; '-' is standard input.\n"
		"Exits with 3 if it is damaged or events were lost, with 4 as --fail-over says; else\n"
		"with COMMAND, as it exits, as 'kymo record' does.\n",
	.run = verb_leaks,
};
