/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/thread-choice.h"

#include <fnmatch.h>
#include <string.h>

#include "base/text.h"
#include "base/value.h"
#include "cli/common/verb.h"
#include "reader/views/cgroup-names.h"

void thread_choice_deinit(struct thread_choice *c)
{
	table_deinit(&c->tids);
}

bool thread_choice_wants(void *userdata, uint32_t tid)
{
	const struct thread_choice *c = userdata;

	return !c->word || table_get(&c->tids, (uint64_t)tid + 1) != NULL;
}

static bool thread_choice_is_unit(const char *word)
{
	static const char *const suffixes[] = { ".service", ".scope",  ".slice",
						".mount",   ".socket", ".swap" };
	size_t n = strlen(word);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (n > strlen(suffixes[i]) &&
		    strcmp(word + n - strlen(suffixes[i]), suffixes[i]) == 0)
			return true;
	return false;
}

static bool thread_choice_is_below(const char *path, const char *cgroup)
{
	size_t n = strlen(cgroup);

	while (n > 1 && cgroup[n - 1] == '/')
		n--;
	return strncmp(path, cgroup, n) == 0 && (n == 1 || path[n] == '/' || path[n] == '\0');
}

/* The word that threads are compared with. */
struct thread_choice_test {
	const char *word;
	uint64_t id; /* UINT64_MAX = not a number */
	bool is_unit, is_cgroup;
	struct value_nearest near;
};

static bool thread_choice_has_name(struct thread_choice_test *test, const char *name)
{
	if (!name || !*name)
		return false;
	if (fnmatch(test->word, name, 0) == 0)
		return true;
	value_nearest_try(&test->near, name);
	return false;
}

static bool thread_choice_in_cgroup(struct thread_choice_test *test,
				    const struct summary_process *p)
{
	char unit[CGROUP_NAME_MAX];

	if (!p || !p->cgroup_path)
		return false;
	if (test->is_cgroup)
		return thread_choice_is_below(p->cgroup_path, test->word);
	return fnmatch(test->word, cgroup_unit(unit, p->cgroup_path), 0) == 0;
}

static bool thread_choice_matches(struct thread_choice_test *test, const struct summary *s,
				  const struct summary_thread *t)
{
	const struct summary_process *p = table_get(&s->processes, (uint64_t)t->pid + 1);

	if (test->id != UINT64_MAX)
		return t->tid == test->id || t->pid == test->id;
	if (test->is_cgroup || test->is_unit)
		return thread_choice_in_cgroup(test, p);
	return thread_choice_has_name(test, t->name) ||
	       (p && thread_choice_has_name(test, p->name));
}

int thread_choice_make(struct thread_choice *ret, const struct summary *s, const char *word)
{
	struct thread_choice_test test = { .word = word, .id = UINT64_MAX };
	struct summary_thread *t;

	*ret = (struct thread_choice){ .word = word };
	if (!word)
		return CLI_OK;
	test.near = (struct value_nearest){ .text = word, .distance = VALUE_NEAR };
	test.is_cgroup = *word == '/';
	test.is_unit = thread_choice_is_unit(word);
	if (text_parse_u64(word, UINT32_MAX, &test.id) < 0)
		test.id = UINT64_MAX;
	for (size_t pos = 0; (t = table_next(&s->threads, &pos));)
		if (thread_choice_matches(&test, s, t) &&
		    table_set(&ret->tids, (uint64_t)t->tid + 1, t) < 0)
			return cli_failed("out of memory");
	if (ret->tids.n_used > 0)
		return CLI_OK;
	return cli_failed("the recording has no thread, process, unit or cgroup '%s'%s%s%s", word,
			  test.near.nearest ? "; did you mean '" : "", test.near.nearest ?: "",
			  test.near.nearest ? "'?" : "");
}
