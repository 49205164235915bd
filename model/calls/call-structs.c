/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-structs.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "model/calls/call-print.h"
#include "model/calls/call-sets.h"
#include "model/calls/call-struct-members.h"
#include "base/cleanup.h"

enum {
	KERNEL_RTMIN = 32,
	KERNEL_SIGNALS = 64,
	LIMIT_UNIT = 1024,
	NEST_MAX = 3,
	TICKS = 100, /* USER_HZ */
	NS_PER_S = 1000000000,
};

#define PREFIX "struct:"

unsigned call_struct_find(const char *name, size_t n)
{
	size_t n_prefix = strlen(PREFIX);

	if (n <= n_prefix || memcmp(name, PREFIX, n_prefix) != 0)
		return CALL_STRUCT_NONE;
	for (size_t i = 0; i < call_struct_n_rows; i++)
		if (strlen(call_struct_rows[i].name) == n - n_prefix &&
		    memcmp(call_struct_rows[i].name, name + n_prefix, n - n_prefix) == 0)
			return (unsigned)i + 1;
	return CALL_STRUCT_NONE;
}

const struct call_struct *call_struct_by_number(unsigned number)
{
	return number == CALL_STRUCT_NONE || number > call_struct_n_rows
		       ? NULL
		       : &call_struct_rows[number - 1];
}

enum call_member_kind call_struct_list(const struct call_struct *row)
{
	return row->n_members > 0 && row->members[0].kind >= CALL_MEMBER_STRINGS
		       ? row->members[0].kind
		       : CALL_MEMBER_INT;
}

/* ---- values ---- */

/* Returns the first BYTES at FROM as a number. */
static uint64_t call_struct_number(const char *from, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, from, bytes < sizeof(value) ? bytes : sizeof(value));
	return value;
}

static void call_struct_int(struct call_print *p, const struct call_member *m, const char *from)
{
	unsigned unused = m->bytes < 8 ? 64 - 8U * m->bytes : 0;

	call_print_add(p, "%" PRId64,
		       (int64_t)(call_struct_number(from, m->bytes) << unused) >> unused);
}

static void call_struct_uint(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_add(p, "%" PRIu64, call_struct_number(from, m->bytes));
}

static void call_struct_hex(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_add(p, "%#" PRIx64, call_struct_number(from, m->bytes));
}

static void call_struct_ptr(struct call_print *p, const struct call_member *m, const char *from)
{
	uint64_t value = call_struct_number(from, m->bytes);

	if (value)
		call_print_add(p, "%#" PRIx64, value);
	else
		call_print_add(p, "NULL");
}

static void call_struct_set(struct call_print *p, const struct call_member *m, const char *from)
{
	char text[CALL_SET_TEXT_MAX];

	call_set_format(call_set_find(m->of, strlen(m->of)), call_struct_number(from, m->bytes),
			text, sizeof(text));
	call_print_add(p, "%s", text);
}

static void call_struct_text(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_quoted(p, from, strnlen(from, m->bytes), false);
}

static void call_struct_data(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_quoted(p, from, m->bytes, false);
}

static void call_struct_path(struct call_print *p, const struct call_member *m, const char *from)
{
	if (*from || m->bytes < 2) {
		call_struct_text(p, m, from);
		return;
	}
	call_print_add(p, "@");
	call_print_quoted(p, from + 1, m->bytes - 1U, false);
}

static void call_struct_signal(struct call_print *p, int number)
{
	/* The C library calls this signal POLL. */
	const char *name = number == SIGIO         ? "IO"
			   : number < KERNEL_RTMIN ? sigabbrev_np(number)
						   : NULL;

	if (name)
		call_print_add(p, "%s", name);
	else if (number == KERNEL_RTMIN)
		call_print_add(p, "RTMIN");
	else
		call_print_add(p, "RT_%d", number - KERNEL_RTMIN);
}

static void call_struct_signals(struct call_print *p, const struct call_member *m, const char *from)
{
	uint64_t set = call_struct_number(from, m->bytes);
	const char *between = "";
	/* A set with at least two thirds of all signals is printed as its complement. */
	bool is_not = __builtin_popcountll(set) >= KERNEL_SIGNALS * 2 / 3;

	call_print_add(p, is_not ? "~[" : "[");
	for (int number = 1; number <= KERNEL_SIGNALS; number++) {
		if ((set >> (number - 1) & 1) == is_not)
			continue;
		call_print_add(p, "%s", between);
		call_struct_signal(p, number);
		between = " ";
	}
	call_print_add(p, "]");
}

static void call_struct_bits(struct call_print *p, const struct call_member *m, const char *from)
{
	const char *between = "";

	call_print_add(p, "[");
	for (unsigned i = 0; i < 8U * m->bytes; i++) {
		if (!(from[i / 8] >> i % 8 & 1))
			continue;
		call_print_add(p, "%s%u", between, i);
		between = " ";
	}
	call_print_add(p, "]");
}

static void call_struct_limit(struct call_print *p, const struct call_member *m, const char *from)
{
	uint64_t value = call_struct_number(from, m->bytes);

	if (value == UINT64_MAX)
		call_print_add(p, "RLIM64_INFINITY");
	else if (value > LIMIT_UNIT && value % LIMIT_UNIT == 0)
		call_print_add(p, "%" PRIu64 "*%d", value / LIMIT_UNIT, LIMIT_UNIT);
	else
		call_print_add(p, "%" PRIu64, value);
}

static void call_struct_device(struct call_print *p, const struct call_member *m, const char *from)
{
	uint64_t value = call_struct_number(from, m->bytes);

	call_print_add(p, "makedev(%#x, %#x)", major(value), minor(value));
}

static void call_struct_port(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_add(p, "htons(%u)", ntohs((uint16_t)call_struct_number(from, m->bytes)));
}

static void call_struct_label(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_add(p, "htonl(%u)", ntohl((uint32_t)call_struct_number(from, m->bytes)));
}

static void call_struct_groups(struct call_print *p, const struct call_member *m, const char *from)
{
	call_print_add(p, "%08" PRIx64, call_struct_number(from, m->bytes));
}

static void call_struct_address4(struct call_print *p, const struct call_member *m,
				 const char *from)
{
	char text[INET_ADDRSTRLEN];

	(void)m;
	call_print_add(p, "inet_addr(\"%s\")", inet_ntop(AF_INET, from, text, sizeof(text)));
}

static void call_struct_address6(struct call_print *p, const struct call_member *m,
				 const char *from)
{
	char text[INET6_ADDRSTRLEN];

	call_print_add(p, "inet_pton(AF_INET6, \"%s\", &%s)",
		       inet_ntop(AF_INET6, from, text, sizeof(text)), m->name);
}

static void call_struct_status(struct call_print *p, const struct call_member *m, const char *from)
{
	int status = (int)call_struct_number(from, m->bytes);
	char text[CALL_SET_TEXT_MAX];
	unsigned signals = call_set_find("enum:signal", strlen("enum:signal"));

	if (WIFEXITED(status)) {
		call_print_add(p, "{WIFEXITED(s) && WEXITSTATUS(s) == %d}", WEXITSTATUS(status));
	} else if (WIFSTOPPED(status)) {
		call_set_format(signals, (uint64_t)WSTOPSIG(status), text, sizeof(text));
		call_print_add(p, "{WIFSTOPPED(s) && WSTOPSIG(s) == %s}", text);
	} else if (WIFCONTINUED(status)) {
		call_print_add(p, "{WIFCONTINUED(s)}");
	} else {
		call_set_format(signals, (uint64_t)WTERMSIG(status), text, sizeof(text));
		call_print_add(p, "{WIFSIGNALED(s) && WTERMSIG(s) == %s%s}", text,
			       WCOREDUMP(status) ? " && WCOREDUMP(s)" : "");
	}
}

static void call_struct_name(struct call_print *p, const struct call_member *m, const char *from)
{
	size_t most = m->bytes - 1U, n = strnlen(from, most);

	call_print_quoted(p, from, n, n == most);
}

static void call_struct_ticks(struct call_print *p, const struct call_member *m, const char *from)
{
	int64_t value = (int64_t)call_struct_number(from, m->bytes);

	call_print_add(p, "%" PRId64, value);
	if (value > 0)
		call_print_add(p, " /* %" PRId64 ".%02" PRId64 " s */", value / TICKS,
			       value % TICKS);
}

static void call_struct_date(struct call_print *p, const struct call_member *m, const char *from)
{
	struct timespec time;
	struct tm date;
	char text[64];

	(void)m;
	memcpy(&time, from, sizeof(time));
	if (time.tv_nsec == UTIME_NOW || time.tv_nsec == UTIME_OMIT) {
		call_print_add(p, time.tv_nsec == UTIME_NOW ? "UTIME_NOW" : "UTIME_OMIT");
		return;
	}
	call_print_add(p, "{tv_sec=%jd, tv_nsec=%ld}", (intmax_t)time.tv_sec, time.tv_nsec);
	if (!localtime_r(&time.tv_sec, &date) ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &date) == 0)
		return;
	call_print_add(p, " /* %s", text);
	if (time.tv_nsec > 0 && time.tv_nsec < NS_PER_S)
		call_print_add(p, ".%09ld", time.tv_nsec);
	if (strftime(text, sizeof(text), "%z", &date) > 0)
		call_print_add(p, "%s", text);
	call_print_add(p, " */");
}

typedef void call_struct_value_fn(struct call_print *p, const struct call_member *m,
				  const char *from);

/* Nested structures are printed by the caller, which knows their depth. */
static call_struct_value_fn *const values[CALL_MEMBER_MAX] = {
	[CALL_MEMBER_INT] = call_struct_int,
	[CALL_MEMBER_UINT] = call_struct_uint,
	[CALL_MEMBER_HEX] = call_struct_hex,
	[CALL_MEMBER_PTR] = call_struct_ptr,
	[CALL_MEMBER_SET] = call_struct_set,
	[CALL_MEMBER_TEXT] = call_struct_text,
	[CALL_MEMBER_DATA] = call_struct_data,
	[CALL_MEMBER_PATH] = call_struct_path,
	[CALL_MEMBER_SIGNALS] = call_struct_signals,
	[CALL_MEMBER_BITS] = call_struct_bits,
	[CALL_MEMBER_FDS] = call_struct_bits,
	[CALL_MEMBER_LIMIT] = call_struct_limit,
	[CALL_MEMBER_DEVICE] = call_struct_device,
	[CALL_MEMBER_PORT] = call_struct_port,
	[CALL_MEMBER_LABEL] = call_struct_label,
	[CALL_MEMBER_ADDRESS4] = call_struct_address4,
	[CALL_MEMBER_ADDRESS6] = call_struct_address6,
	[CALL_MEMBER_GROUPS] = call_struct_groups,
	[CALL_MEMBER_OFFSET] = call_struct_int,
	[CALL_MEMBER_NAME] = call_struct_name,
	[CALL_MEMBER_TICKS] = call_struct_ticks,
	[CALL_MEMBER_DATE] = call_struct_date,
	[CALL_MEMBER_STATUS] = call_struct_status,
};

/* ---- members ---- */

static bool call_struct_is(const struct call_struct *row, const char *from, size_t n)
{
	const struct call_member *last;

	if (row->key.bytes == 0)
		return true;
	last = &row->members[row->n_members - 1];
	/* Only a text can be shorter than its member. */
	if (row->is_sized && last->kind != CALL_MEMBER_PATH && n < (size_t)last->at + last->bytes)
		return false;
	return n >= (size_t)row->key.at + row->key.bytes &&
	       ((uint32_t)call_struct_number(from + row->key.at, row->key.bytes) & row->key.mask) ==
		       row->key.value;
}

/* Returns the structure that has the same name as FIRST, and fits the N bytes at FROM. */
static const struct call_struct *call_struct_pick(const struct call_struct *first, const char *from,
						  size_t n)
{
	const struct call_struct *end = call_struct_rows + call_struct_n_rows;

	for (const struct call_struct *row = first;
	     row < end && strcmp(row->name, first->name) == 0; row++)
		if (call_struct_is(row, from, n))
			return row;
	return NULL;
}

/* Returns the number of bytes of M in a structure of N bytes; 0 = M is not in it. */
static size_t call_struct_has(const struct call_struct *row, const struct call_member *m, size_t n)
{
	size_t bytes = (size_t)m->bytes * (m->count ?: 1);

	if (n >= m->at + bytes)
		return bytes;
	/* The last member can be incomplete. */
	return row->is_sized && n > m->at && (m == &row->members[row->n_members - 1]) ? n - m->at
										      : 0;
}

static bool call_struct_put(struct call_print *p, unsigned number, const char *from, size_t n,
			    unsigned depth);

static void call_struct_put_one(struct call_print *p, const struct call_member *m, const char *from,
				unsigned depth)
{
	if (m->kind == CALL_MEMBER_STRUCT)
		call_struct_put(p, call_struct_find(m->of, strlen(m->of)), from, m->bytes,
				depth + 1);
	else
		values[m->kind](p, m, from);
}

static void call_struct_put_member(struct call_print *p, const struct call_member *m,
				   const char *from, unsigned depth)
{
	/* The function that prints IPv6 addresses prints the member's name, too. */
	if (*m->name && m->kind != CALL_MEMBER_ADDRESS6)
		call_print_add(p, "%s=", m->name);
	if (m->count == 0) {
		call_struct_put_one(p, m, from, depth);
		return;
	}
	for (unsigned i = 0; i < m->count; i++) {
		call_print_add(p, i ? ", " : "[");
		call_struct_put_one(p, m, from + (size_t)i * m->bytes, depth);
	}
	call_print_add(p, "]");
}

/* Prints structure NUMBER. If there are too few bytes, writes nothing and returns false. */
static bool call_struct_put(struct call_print *p, unsigned number, const char *from, size_t n,
			    unsigned depth)
{
	const struct call_struct *first = call_struct_by_number(number), *row;
	size_t i = 0;
	bool is_bare;

	row = first && depth < NEST_MAX && call_struct_list(first) == CALL_MEMBER_INT
		      ? call_struct_pick(first, from, n)
		      : NULL;
	if (!row || row->n_members == 0 || call_struct_has(row, &row->members[0], n) == 0)
		return false;
	is_bare = *row->members[0].name == '\0';
	call_print_add(p, is_bare ? "" : "{");
	for (; i < row->n_members; i++) {
		struct call_member m = row->members[i];
		size_t bytes = call_struct_has(row, &row->members[i], n);

		if (bytes == 0)
			break;
		if (m.count == 0)
			m.bytes = (uint16_t)bytes;
		call_print_add(p, i ? ", " : "");
		call_struct_put_member(p, &m, from + m.at, depth);
	}
	if (row->is_part || (i < row->n_members && !row->is_sized))
		call_print_add(p, ", ...");
	call_print_add(p, is_bare ? "" : "}");
	return true;
}

size_t call_struct_format(unsigned number, const void *from, size_t n, char *to, size_t size)
{
	struct call_print p = call_print_begin(to, size);

	call_struct_put(&p, number, from, n, 0);
	return p.used;
}

size_t call_struct_format_array(unsigned number, const void *from, size_t n, size_t count, char *to,
				size_t size)
{
	const struct call_struct *row = call_struct_by_number(number);
	struct call_print p = call_print_begin(to, size);

	call_print_add(&p, "[");
	for (size_t i = 0; row && i < count; i++) {
		size_t at = i * row->bytes;

		call_print_add(&p, i ? ", " : "");
		if (at + row->bytes > n) {
			call_print_add(&p, "...");
			break;
		}
		call_struct_put(&p, number, (const char *)from + at, row->bytes, 0);
	}
	call_print_add(&p, "]");
	return p.used;
}
