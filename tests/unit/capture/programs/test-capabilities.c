/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reported capabilities are consistent, on any machine.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/programs/capabilities.h"
#include "capture/programs/fentry.h"
#include "capture/programs/kernel-btf.h"
#include "capture/options/options.h"
#include "tests/support/unit.h"

static const struct capability *find(const struct capability *caps, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(caps[i].name, name) == 0)
			return &caps[i];
	fail_msg("there is no capability '%s'", name);
	return NULL;
}

TEST(test_probe)
{
	struct capability caps[CAPABILITIES_MAX];
	int n = capabilities_probe(caps);

	assert_in_range(n, 1, CAPABILITIES_MAX);
	for (int i = 0; i < n; i++) {
		assert_true(strlen(caps[i].detail) > 3);
		assert_ptr_equal(find(caps, n, caps[i].name), &caps[i]); /* each once */
	}
	assert_int_equal(find(caps, n, "btf")->available,
			 access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	assert_int_equal(find(caps, n, "sched")->available,
			 find(caps, n, "btf")->available && find(caps, n, "privilege")->available &&
				 find(caps, n, "kernel")->available);
}

/* Each category can be found by its name. An unavailable one has a reason. */
TEST(test_categories)
{
	struct capability caps[CAPABILITIES_MAX];
	int n = capabilities_probe(caps);
	bool all = find(caps, n, "sched")->available;

	for (const struct category_row *row = category_rows; row->name; row++) {
		const struct capability *c = find(caps, n, row->name);

		if (!all)
			assert_string_equal(c->detail, "see btf, privilege and kernel");
		assert_true(all || !c->available);
	}
	assert_int_equal(find(caps, n, "counters")->available, all);
}

/* NULL if unavailable. */
static struct kernel_btf *open_btf(void)
{
	struct kernel_btf *btf = NULL;
	int r = kernel_btf_open(&btf);

	assert_int_equal(r == 0, access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	return btf;
}

TEST(test_tracepoints)
{
	static const char *const names[] = { "sched_switch", "no_such_tracepoint" };
	bool has[2] = { false, true };

	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = open_btf();

	if (!btf)
		return;
	assert_int_equal(kernel_btf_tracepoints(btf, names, 2, has), 0);
	assert_true(has[0]);
	assert_false(has[1]);
}

/* The check and the list agree. */
TEST(test_check)
{
	struct capability caps[CAPABILITIES_MAX];
	int n = capabilities_probe(caps);
	const char *text = NULL;
	int r = capabilities_check(&text);

	assert_int_equal(r == 0, find(caps, n, "sched")->available);
	if (r < 0)
		assert_true(text && strlen(text) > 3);
}

TEST(test_preempt_count)
{
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = open_btf();
	int64_t from_rq = 0;
	int r;

	if (!btf)
		return;
	r = kernel_btf_preempt_count(btf, &from_rq);
	assert_in_range(r, 0, 1);
	assert_int_equal(r == 1, from_rq != 0); /* two variables never have the same address */
}

/* An additional argument identifies the newer kind. Both have at most four. */
TEST(test_exits)
{
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = open_btf();

	if (!btf)
		return;
	assert_in_range(kernel_btf_exits_with_memory(btf), 0, 1);
	/* Features that cannot be tried are unavailable. */
	if (geteuid() != 0)
		assert_false(fentry_works(btf, "do_exit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),         cmocka_unit_test(test_categories),
		cmocka_unit_test(test_tracepoints),   cmocka_unit_test(test_check),
		cmocka_unit_test(test_preempt_count), cmocka_unit_test(test_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
