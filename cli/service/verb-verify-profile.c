/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo verify-profile: checks collections, without recording.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/options/collection-parse.h"
#include "base/cleanup.h"
#include "cli/common/json.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "capture/options/option-table.h"

struct profile_options {
	const char *directory;
	bool json, list;
};

/* The check of one file. */
struct check {
	const char *path;
	unsigned n_wrong;
	struct json_object *complaints; /* NULL = errors are printed */
};

static void verb_verify_profile_on_complaint(unsigned line, const char *text, void *userdata)
{
	struct check *check = userdata;

	check->n_wrong++;
	if (check->complaints) {
		json_append_item(check->complaints,
				 JSON_OBJECT(JSON("line", line), JSON("text", text)));
	} else if (line) {
		printf("%s:%u: %s\n", check->path, line, text);
	} else {
		printf("%s: %s\n", check->path, text);
	}
}

/*
 * Checks the directory for archives. The service does not create a directory that the user has
 * chosen.
 */
static void verb_verify_profile_check_directory(struct check *check, const struct collection *c)
{
	size_t n = strlen(COLLECTION_DIRECTORY_PREFIX);
	char text[COLLECTION_TEXT_MAX];
	struct stat st;

	if (strncmp(c->directory, COLLECTION_DIRECTORY_PREFIX, n) == 0 &&
	    (c->directory[n] == '/' || c->directory[n] == '\0'))
		return;
	if (stat(c->directory, &st) == 0 && S_ISDIR(st.st_mode))
		return;
	snprintf(text, sizeof(text),
		 "Directory=: there is no directory '%.200s': create it, or use one below %s, "
		 "which is created automatically",
		 c->directory, COLLECTION_DIRECTORY_PREFIX);
	verb_verify_profile_on_complaint(c->directory_line, text, check);
}

static int verb_verify_profile_read_collection(struct check *check, FILE *f, const char *name,
					       bool in_use)
{
	struct collection c;
	const char *untrusted;
	char text[COLLECTION_TEXT_MAX];
	struct stat st;
	int r;

	if (fstat(fileno(f), &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	untrusted = in_use ? collection_untrusted(&st, 0) : NULL;
	if (untrusted) {
		snprintf(text, sizeof(text), "the service will not read it: %s", untrusted);
		verb_verify_profile_on_complaint(0, text, check);
	}
	r = collection_read(f, name, verb_verify_profile_on_complaint, check, &c);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	verb_verify_profile_check_directory(check, &c);
	collection_deinit(&c);
	return 0;
}

/* Checks a collection. Prints the errors, or adds them to LIST. */
static int verb_verify_profile_check(const char *path, bool in_use, struct json_object *list)
{
	struct check check = { .path = path };
	char room[65], text[COLLECTION_TEXT_MAX];
	const char *name = collection_name_of(path, room);
	FILE *f;
	int r;

	if (list)
		check.complaints = json_object_new_array();
	if (!name) {
		verb_verify_profile_on_complaint(
			0,
			"the name of a collection is 1 to 64 of A-Z a-z 0-9 _, followed by "
			"\".conf\"",
			&check);
		name = "profile";
	}
	f = fopen(path, "re");
	r = f ? verb_verify_profile_read_collection(&check, f, name, in_use) : -errno;
	if (f)
		fclose(f);
	if (r < 0) {
		snprintf(text, sizeof(text), "cannot be read: %s", strerror(-r));
		verb_verify_profile_on_complaint(0, text, &check);
	}
	if (list) {
		json_append_item(list, JSON_OBJECT(JSON("file", path),
						   JSON("good", json_boolean(check.n_wrong == 0)),
						   JSON_OF(&check, complaints)));
	}
	return check.n_wrong ? CLI_FAILED : CLI_OK;
}

static int verb_verify_profile_list_keys(void)
{
	char values[OPTION_VALUES_MAX];

	OPTION_FOR_EACH(row) {
		const char *usual = row->shown_profile ?: row->shown;

		if (row->key)
			printf("[%s] %s= %s%s%s%s%s\n", row->section, row->key,
			       option_values(row, values), usual ? " (" : "", usual ?: "",
			       usual ? ")" : "",
			       row->flags & OPTION_LIST ? ", more than once" : "");
	}
	return CLI_OK;
}

/*
 * Checks the collection WORD. A word without a slash and a dot is a name in the directory; other
 * words are paths.
 */
static int verb_verify_profile_verify_word(const char *word, const struct profile_options *o,
					   struct json_object *list)
{
	_cleanup_free_ char *path = NULL;

	if (strchr(word, '/') || strchr(word, '.'))
		return verb_verify_profile_check(word, false, list);
	if (asprintf(&path, "%s/%s" COLLECTION_SUFFIX, o->directory, word) < 0) {
		path = NULL;
		return cli_failed("out of memory");
	}
	return verb_verify_profile_check(path, strcmp(o->directory, COLLECTION_DIRECTORY) == 0,
					 list);
}

static int verb_verify_profile(int argc, char **argv)
{
	struct profile_options o = { .directory = COLLECTION_DIRECTORY };
	const struct verb_option rows[] = {
		OPTION_TEXT("config-dir", 0, &o.directory),
		OPTION_FLAG("json", &o.json),
		OPTION_FLAG("list", &o.list),
		{ 0 },
	};
	struct json_object *list = NULL;
	int r = verb_options_parse(argc, argv, rows), worst = CLI_OK;

	if (r != VERB_OPTIONS_GO)
		return r;
	if (o.list)
		return verb_verify_profile_list_keys();
	if (optind == argc)
		return cli_usage_error("expected NAMEs of collections in %s, or FILEs",
				       COLLECTION_DIRECTORY);
	if (o.json)
		list = json_object_new_array();
	for (int i = optind; i < argc; i++) {
		r = verb_verify_profile_verify_word(argv[i], &o, list);
		worst = r > worst ? r : worst;
	}
	if (list)
		json_print_pretty(list);
	return worst;
}

const struct verb verb_verify_profile_row = {
	.name = "verify-profile",
	.synopsis = "NAME|FILE ... [OPTION ...]",
	.what = "Report the errors of collections (kymo.conf)",
	.examples = "  kymo verify-profile machine\n  kymo verify-profile ./new.conf\n",
	.options = "      --config-dir=DIR  directory of collections (" COLLECTION_DIRECTORY ")\n"
		   "      --list         list all keys, with their values\n"
		   "      --json         print an array of JSON\n"
		   "  -h, --help         show this\n",
	.run = verb_verify_profile,
};
