/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "daemon/files/message-weight.h"
#include "tests/support/unit.h"

static sd_bus *bus; /* only to make messages */
static int other_end;

FIXTURE(setup)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	other_end = fds[1];
	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_fd(bus, fds[0], fds[0]) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	return 0;
}

FIXTURE(teardown)
{
	sd_bus_close(bus);
	bus = sd_bus_unref(bus);
	close(other_end);
	return 0;
}

static sd_bus_message *new_message(void)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(bus, &m, "/x", "x.y", "Z") >= 0);
	return m;
}

TEST(test_message_check_weight_bounds)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_message();
	static const char bytes[3000];
	const char *text;

	/* a word for each item, and its content */
	assert_true(sd_bus_message_append(m, "s", "0123456789") >= 0);
	assert_true(sd_bus_message_append_array(m, 'y', bytes, sizeof(bytes)) >= 0);
	assert_true(sd_bus_message_append(m, "a{sv}", 1, "key", "(tas)", UINT64_C(7), 2, "a",
					  "b") >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_int_equal(message_check_weight(m, 1 << 20), 0);
	assert_int_equal(message_check_weight(m, 3000), -E2BIG);
	assert_int_equal(message_check_weight(m, 10), -E2BIG);
	assert_int_equal(message_check_weight(m, 3019), -E2BIG);
	assert_int_equal(message_check_weight(m, 3200), 0);
	/* It can be read afterwards. */
	assert_true(sd_bus_message_read(m, "s", &text) > 0);
	assert_string_equal(text, "0123456789");
}

/* Many small things are heavy, too. */
TEST(test_message_check_weight_many)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_message();

	assert_true(sd_bus_message_open_container(m, 'a', "as") >= 0);
	for (int i = 0; i < 1000; i++)
		assert_true(sd_bus_message_append(m, "as", 0) >= 0);
	assert_true(sd_bus_message_close_container(m) >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_int_equal(message_check_weight(m, 7999), -E2BIG);
	assert_int_equal(message_check_weight(m, 8008), 0);
}

TEST(test_message_check_weight_empty)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_message();

	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_int_equal(message_check_weight(m, 0), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_message_check_weight_bounds),
		CASE(test_message_check_weight_many),
		CASE(test_message_check_weight_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
