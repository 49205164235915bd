/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/moment-data.h"

#include <string.h>

const char *const moment_data_registers[EVENT_MOMENT_REGISTERS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",    "r8",      "r9",
	"r10", "r11", "r12", "r13", "r14", "r15", "rip", "eflags", "fs_base", "gs_base",
};

uint64_t moment_data_register(const struct event *ev, unsigned i)
{
	uint64_t value;

	memcpy(&value, (const char *)ev->moment.data + i * sizeof(value), sizeof(value));
	return value;
}

const char *moment_data_point_name(const char *plan, size_t *ret_n)
{
	static const char first[] = "point\t";

	*ret_n = 1;
	if (strncmp(plan, first, sizeof(first) - 1) != 0 || plan[sizeof(first) - 1] == '\t')
		return "?";
	plan += sizeof(first) - 1;
	*ret_n = strcspn(plan, "\t");
	return *ret_n > 0 ? plan : moment_data_point_name("", ret_n);
}

bool moment_data_next(const struct event *ev, uint32_t *at, struct moment_data_block *ret)
{
	const uint32_t before = EVENT_MOMENT_REGISTERS * sizeof(uint64_t);
	const uint8_t *data = (const uint8_t *)ev->moment.data + before;
	uint32_t n = ev->moment.n_bytes - before, bytes;

	if (n < *at || n - *at < 16)
		return false;
	memcpy(&ret->address, data + *at, sizeof(ret->address));
	memcpy(&ret->load, data + *at + 8, sizeof(ret->load));
	memcpy(&ret->bytes, data + *at + 12, sizeof(ret->bytes));
	bytes = ret->bytes > 0 ? (uint32_t)ret->bytes : 0;
	if (bytes > n - *at - 16)
		return false;
	ret->data = data + *at + 16;
	*at += 16 + (bytes + 7) / 8 * 8;
	return true;
}
