/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of sockets, from the copies of the programs, also cut and damaged ones.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "capture/calls/call-messages.h"
#include "model/calls/call-structs.h"
#include "tests/support/unit.h"

static const struct call_type sent = { .form = CALL_STRUCT };
static const struct call_type received = { .form = CALL_STRUCT, .in_out = true };

static struct call_type type_of(struct call_type type, const char *name)
{
	type.layout = (uint16_t)call_struct_find(name, strlen(name));
	assert_int_not_equal(type.layout, CALL_STRUCT_NONE);
	return type;
}

static const char *shown(struct call_type type, const struct call_copies *copies, uint64_t count)
{
	static char to[CALL_VALUE_TEXT_MAX];

	return call_messages_format(&type, copies, count, to, sizeof(to)) > 0 ? to : "";
}

static void add(struct call_text *text, const void *bytes, size_t n)
{
	assert_true((size_t)text->bytes + n <= sizeof(text->text));
	memcpy(text->text + text->bytes, bytes, n);
	text->bytes += (int32_t)n;
}

/* A message with a buffer of LENGTH bytes, whose copy has DATA. */
static void add_message(struct call_text *text, struct call_message head, uint64_t length,
			const char *data)
{
	const uint64_t part[2] = { 0x10, length };

	head.n_parts = 1;
	head.has |= CALL_MESSAGE_PARTS;
	add(text, &head, sizeof(head));
	add(text, part, sizeof(part));
	add(text, data, strlen(data));
}

TEST(test_memory)
{
	static const struct {
		const char *name;
		bool is_received, is_out;
		uint8_t kind, unit;
		uint32_t count;
	} rows[] = {
		{ "struct:msghdr", false, false, CALL_MEMORY_MESSAGE, 1, 1 },
		{ "struct:msghdr", true, false, CALL_MEMORY_BYTES, 56, 1 },
		{ "struct:msghdr", true, true, CALL_MEMORY_MESSAGE, 1, 1 },
		{ "struct:mmsghdr_sent", true, false, CALL_MEMORY_MESSAGES, 1, 0 },
		{ "struct:mmsghdr_sent", true, true, CALL_MEMORY_BYTES, 64, 0 },
		{ "struct:mmsghdr", true, false, CALL_MEMORY_BYTES, 64, 0 },
		{ "struct:mmsghdr", true, true, CALL_MEMORY_MESSAGES, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct call_type type =
			type_of(rows[i].is_received ? received : sent, rows[i].name);
		struct call_memory memory = { .kind = strcmp(rows[i].name, "struct:msghdr") == 0
							      ? CALL_MEMORY_MESSAGE
							      : CALL_MEMORY_MESSAGES };

		assert_true(call_type_is_message(&type));
		call_message_memory(&type, rows[i].is_out, &memory);
		assert_int_equal(memory.kind, rows[i].kind);
		assert_int_equal(memory.unit, rows[i].unit);
		assert_int_equal(memory.count, rows[i].count);
	}
	assert_false(call_type_is_message(&(struct call_type){
		.form = CALL_STRUCT, .layout = type_of(sent, "struct:stat").layout }));
}

TEST(test_sent)
{
	const struct sockaddr_in name = { .sin_family = AF_INET,
					  .sin_port = htons(53),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct call_type type = type_of(sent, "struct:msghdr");
	struct call_text text = { 0 };
	struct call_message head = { .flags = MSG_TRUNC };

	add_message(&text, head, 3, "abc");
	assert_string_equal(shown(type, &(struct call_copies){ .in = &text }, 1),
			    "{msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"abc\", iov_len=3}]"
			    ", msg_iovlen=1, msg_controllen=0, msg_flags=MSG_TRUNC}");
	text.bytes = 0;
	head = (struct call_message){ .name = 0x20,
				      .name_bytes = sizeof(name),
				      .name_copied = sizeof(name),
				      .control_bytes = 8 };
	add(&text, &head, sizeof(head));
	add(&text, &name, sizeof(name));
	assert_string_equal(shown(type, &(struct call_copies){ .in = &text }, 1),
			    "{msg_name={sa_family=AF_INET, sin_port=htons(53), "
			    "sin_addr=inet_addr(\"127.0.0.1\")}, msg_namelen=16, msg_iov=NULL, "
			    "msg_iovlen=0, msg_controllen=8, msg_flags=0}");
	/* The name is unreadable. */
	head.name_copied = 0;
	text.bytes = 0;
	add(&text, &head, sizeof(head));
	assert_non_null(strstr(shown(type, &(struct call_copies){ .in = &text }, 1),
			       "{msg_name=0x20, msg_namelen=16, "));
	text.bytes = -1;
	assert_string_equal(shown(type, &(struct call_copies){ .in = &text }, 1), "");
	assert_string_equal(shown(type, &(struct call_copies){ 0 }, 1), "");
}

TEST(test_received)
{
	const struct msghdr before = { .msg_namelen = 110 };
	struct call_type type = type_of(received, "struct:msghdr");
	struct call_text in = { 0 }, out = { 0 };
	struct call_message head = { .name = 0x30 };
	struct call_copies copies = { .in = &in, .out = &out, .total = 2 };

	add(&in, &before, sizeof(before));
	add_message(&out, head, 9, "ab");
	assert_string_equal(shown(type, &copies, 1),
			    "{msg_name=0x30, msg_namelen=110 => 0, msg_iov=[{iov_base=\"ab\", "
			    "iov_len=9}], msg_iovlen=1, msg_controllen=0, msg_flags=0}");
	/* The call has failed. */
	copies.out = NULL;
	assert_string_equal(shown(type, &copies, 1), "{msg_namelen=110}");
	in.bytes = -1;
	assert_string_equal(shown(type, &copies, 1), "");
}

/* Adds a control message with DATA of N bytes. */
static void add_control(struct call_text *text, int level, int type, const void *data, size_t n)
{
	const uint64_t length = 16 + n;
	const int32_t kinds[2] = { level, type };
	const char pad[8] = { 0 };

	add(text, &length, sizeof(length));
	add(text, kinds, sizeof(kinds));
	add(text, data, n);
	add(text, pad, (8 - n % 8) % 8);
}

TEST(test_control)
{
	const int32_t fds[] = { 5, 6 }, ids[] = { 7, 8, 9 }, ttl = 64;
	struct call_type type = type_of(sent, "struct:msghdr");
	struct call_text text = { .bytes = sizeof(struct call_message) };
	struct call_message head = { .has = CALL_MESSAGE_CONTROL };
	struct call_copies copies = { .in = &text };

	add_control(&text, SOL_SOCKET, SCM_RIGHTS, fds, sizeof(fds));
	add_control(&text, SOL_SOCKET, 2, ids, sizeof(ids));
	add_control(&text, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
	add_control(&text, 70, 3, "ab", 2);
	head.control_bytes = head.control_copied = (uint8_t)((size_t)text.bytes - sizeof(head));
	memcpy(text.text, &head, sizeof(head));
	assert_non_null(strstr(
		shown(type, &copies, 1),
		"msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
		"cmsg_data=[5, 6]}, {cmsg_len=28, cmsg_level=SOL_SOCKET, "
		"cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=7, uid=8, gid=9}}, {cmsg_len=20, "
		"cmsg_level=SOL_IP, cmsg_type=IP_TTL, cmsg_data=[64]}, {cmsg_len=18, "
		"cmsg_level=70, cmsg_type=0x3, cmsg_data=\"\\x61\\x62\"}], msg_controllen=104"));
	/* Not all of them are in the copy. */
	head.control_copied = 24;
	memcpy(text.text, &head, sizeof(head));
	assert_non_null(strstr(shown(type, &copies, 1), "cmsg_data=[5, 6]}, ...], msg_cont"));
}

TEST(test_arrays)
{
	const size_t share = CALL_MESSAGE_BYTES(2);
	struct mmsghdr done[2] = { { .msg_len = 3 }, { .msg_len = 4 } };
	struct call_text gathered = { 0 }, raw = { 0 };
	struct call_copies copies = { .in = &gathered, .out = &raw, .total = 1 };

	add_message(&gathered, (struct call_message){ .length = 1 }, 3, "abc");
	gathered.bytes = (int32_t)share;
	add_message(&gathered, (struct call_message){ .length = 4 }, 4, "defg");
	add(&raw, done, sizeof(done));
	/* One of two messages has been sent. */
	assert_string_equal(
		shown(type_of(received, "struct:mmsghdr_sent"), &copies, 2),
		"[{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"abc\", "
		"iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}, "
		"{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"defg\", "
		"iov_len=4}], msg_iovlen=1, msg_controllen=0, msg_flags=0}}]");
	/* Two of five messages have been received; one byte of the first. */
	copies = (struct call_copies){ .in = &raw, .out = &gathered, .total = 2 };
	assert_string_equal(
		shown(type_of(received, "struct:mmsghdr"), &copies, 5),
		"[{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"a\", "
		"iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=1}, "
		"{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"defg\", "
		"iov_len=4}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, "
		"msg_len=4}]");
	/* The copy ends before the second one. */
	gathered.bytes = (int32_t)share;
	assert_non_null(
		strstr(shown(type_of(received, "struct:mmsghdr"), &copies, 5), "msg_len=1}, ...]"));
	copies.total = 0;
	gathered.bytes = 0;
	assert_string_equal(shown(type_of(received, "struct:mmsghdr"), &copies, 5), "[]");
}

/* Any bytes of a program: no access beyond the copy (found by sanitizers). */
TEST(test_any_bytes)
{
	static const char *const names[] = { "struct:msghdr", "struct:mmsghdr",
					     "struct:mmsghdr_sent" };
	struct call_text text;
	struct call_copies copies = { .in = &text, .out = &text };

	for (size_t k = 0; k < 2 * ARRAY_SIZE(names); k++)
		for (int fill = 0; fill < 256; fill += 5)
			for (int n = -1; n <= CALL_TEXT_BYTES; n += 3) {
				memset(&text, fill, sizeof(text));
				text.bytes = n;
				copies.total = (uint64_t)n;
				shown(type_of(k % 2 ? received : sent, names[k / 2]), &copies,
				      (uint64_t)(n + 1) % 7);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),   cmocka_unit_test(test_sent),
		cmocka_unit_test(test_received), cmocka_unit_test(test_control),
		cmocka_unit_test(test_arrays),   cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
