/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/markup.h"

#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"

TEST(test_markup_add_text)
{
	static const struct {
		const char *text, *as;
	} cases[] = {
		{ "", "" },
		{ "plain \xe2\x82\xac", "plain \xe2\x82\xac" },
		{ "</script><script>alert('1')",
		  "&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)" },
		{ "a\" onload=\"x", "a&quot; onload=&quot;x" },
		{ "&lt;", "&amp;lt;" },
		{ "]]>", "]]&gt;" },
		/* not UTF-8, controls, and characters that XML cannot contain */
		{ "\xff|\x01|\xef\xbf\xbe", "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd" },
		{ "\xe2\x80\xae", "\xef\xbf\xbd" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct outbuf out = { 0 };

		markup_add_text(&out, cases[i].text);
		assert_int_equal(out.error, 0);
		assert_int_equal(out.size, strlen(cases[i].as));
		assert_true(out.size == 0 || memcmp(out.data, cases[i].as, out.size) == 0);
		outbuf_deinit(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup_add_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
