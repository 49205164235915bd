/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are derived from Perfetto's trace_packet.proto: a tag is field << 3 | 2, followed by
 * the length as a varint.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-perfetto.h"

TEST(test_system_info)
{
	static const uint8_t want[] = {
		0x0a, 0x1b,                                /* Trace.packet, 27 bytes */
		0xea, 0x02, 0x18,                          /* TracePacket.system_info (45), 24 */
		0x0a, 0x16,                                /* SystemInfo.utsname, 22 */
		0x0a, 0x05, 'L',  'i', 'n', 'u', 'x',      /* Utsname.sysname */
		0x1a, 0x05, '6',  '.', '1', '.', '0',      /* Utsname.release (3) */
		0x22, 0x06, 'x',  '8', '6', '_', '6', '4', /* Utsname.machine (4) */
	};
	_cleanup_(outbuf_deinit) struct outbuf is = { 0 };

	fxt_perfetto_system_info(&is, "6.1.0", "x86_64");
	assert_int_equal(is.size, sizeof(want));
	assert_memory_equal(is.data, want, sizeof(want));
}

TEST(test_system_info_empty)
{
	static const uint8_t want[] = {
		0x0a, 0x10, 0xea, 0x02, 0x0d, 0x0a, 0x0b, 0x0a, 0x05,
		'L',  'i',  'n',  'u',  'x',  0x1a, 0x00, 0x22, 0x00,
	};
	_cleanup_(outbuf_deinit) struct outbuf is = { 0 };

	fxt_perfetto_system_info(&is, "", "");
	assert_int_equal(is.size, sizeof(want));
	assert_memory_equal(is.data, want, sizeof(want));
}

/* Each text is cut to 100 bytes; lengths from 128 on take two bytes. */
TEST(test_system_info_longest)
{
	static const uint8_t heads[] = {
		0x0a, 0xda, 0x01,       /* 218: 4 + 214 */
		0xea, 0x02, 0xd6, 0x01, /* 214: 3 + 211 */
		0x0a, 0xd3, 0x01,       /* 211: 7 + 102 + 102 */
	};
	_cleanup_(outbuf_deinit) struct outbuf is = { 0 };
	char release[300], machine[300];
	const uint8_t *p;

	memset(release, 'r', sizeof(release));
	memset(machine, 'm', sizeof(machine));
	release[299] = machine[299] = '\0';
	fxt_perfetto_system_info(&is, release, machine);
	assert_int_equal(is.size, 3 + 218);
	assert_memory_equal(is.data, heads, sizeof(heads));
	p = is.data + sizeof(heads);
	assert_memory_equal(p, "\x0a\x05Linux\x1a\x64", 9);
	assert_memory_equal(p + 9, release, 100);
	assert_memory_equal(p + 109, "\x22\x64", 2);
	assert_memory_equal(p + 111, machine, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_info),
		cmocka_unit_test(test_system_info_empty),
		cmocka_unit_test(test_system_info_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
