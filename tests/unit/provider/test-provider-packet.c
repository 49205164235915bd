/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of programs: those that the library sends, and all others.
 */
#include <errno.h>
#include <string.h>

#include "capture/providers/provider-packet.h"
#include "tests/support/unit.h"

static struct provider_message message;
static struct provider_packet packet;

/* Checks a packet of KIND with the N bytes at TEXT. */
static int check(uint32_t kind, const char *text, size_t n)
{
	memset(&message, 0, sizeof(message));
	message.kind = kind;
	message.version = PROVIDER_WIRE_VERSION;
	message.session = 7;
	message.text_bytes = (uint32_t)n;
	memcpy(message.text, text, n);
	return provider_packet_check(&packet, &message, PROVIDER_MESSAGE_HEAD + n);
}

TEST(takes_what_the_library_sends)
{
	assert_int_equal(check(PROVIDER_HELLO, "render", 6), 0);
	assert_int_equal(packet.kind, PROVIDER_HELLO);
	assert_string_equal(packet.name, "render");
	assert_int_equal(check(PROVIDER_CATEGORIES, "a\0net\0", 6), 0);
	assert_int_equal(packet.n_categories, 2);
	assert_int_equal(check(PROVIDER_STARTED, "", 0), 0);
	assert_int_equal(packet.session, 7);
	assert_int_equal(packet.error, 0);
	assert_int_equal(check(PROVIDER_STOPPED, "", 0), 0);
	message.kind = PROVIDER_STARTED;
	message.error = -EBUSY;
	assert_int_equal(provider_packet_check(&packet, &message, PROVIDER_MESSAGE_HEAD), 0);
	assert_int_equal(packet.error, -EBUSY);
}

TEST(cleans_names)
{
	assert_int_equal(check(PROVIDER_HELLO, "a\n\xff", 3), 0);
	assert_string_equal(packet.name, "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(refuses_wrong_texts)
{
	char text[PROVIDER_NAME_BYTES];

	memset(text, 'x', sizeof(text));
	assert_int_equal(check(PROVIDER_HELLO, text, sizeof(text)), -EPROTO);
	assert_int_equal(check(PROVIDER_HELLO, text, sizeof(text) - 1), 0);
	assert_int_equal(check(PROVIDER_HELLO, "", 0), -EPROTO);
	assert_int_equal(check(PROVIDER_HELLO, "a\0b", 3), -EPROTO);
	assert_int_equal(check(PROVIDER_CATEGORIES, "", 0), -EPROTO);
	assert_int_equal(check(PROVIDER_CATEGORIES, "a\0b", 3), -EPROTO);
	assert_int_equal(check(PROVIDER_CATEGORIES, "a\0\0", 3), -EPROTO);
	assert_int_equal(check(PROVIDER_STOPPED, "a", 1), -EPROTO);
	assert_int_equal(check(PROVIDER_STARTED, "a", 1), -EPROTO);
}

TEST(refuses_wrong_sizes)
{
	check(PROVIDER_HELLO, "render", 6);
	for (size_t n = 0; n < PROVIDER_MESSAGE_HEAD + 16; n++)
		if (n != PROVIDER_MESSAGE_HEAD + 6)
			assert_int_equal(provider_packet_check(&packet, &message, n), -EPROTO);
	assert_int_equal(provider_packet_check(&packet, &message, sizeof(message) + 1), -EPROTO);
	message.text_bytes = UINT32_MAX;
	assert_int_equal(provider_packet_check(&packet, &message, PROVIDER_MESSAGE_HEAD + 6),
			 -EPROTO);
}

TEST(refuses_wrong_kinds)
{
	assert_int_equal(check(PROVIDER_START, "*", 1), -EPROTO);
	assert_int_equal(check(PROVIDER_STOP, "", 0), -EPROTO);
	message.kind = PROVIDER_STARTED;
	message.error = 1;
	assert_int_equal(provider_packet_check(&packet, &message, PROVIDER_MESSAGE_HEAD), -EPROTO);
}

/* Later versions of the library can send more. */
TEST(passes_over_what_is_new)
{
	assert_int_equal(check(99, "new", 3), -EPROTONOSUPPORT);
	check(PROVIDER_HELLO, "render", 6);
	message.version++;
	assert_int_equal(provider_packet_check(&packet, &message, PROVIDER_MESSAGE_HEAD + 6),
			 -EPROTONOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_the_library_sends),
		cmocka_unit_test(cleans_names),
		cmocka_unit_test(refuses_wrong_texts),
		cmocka_unit_test(refuses_wrong_sizes),
		cmocka_unit_test(refuses_wrong_kinds),
		cmocka_unit_test(passes_over_what_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
