/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/tracepoint-own.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#define FIELD(declaration, offset, size)                                                           \
	"\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

/* Offsets are the offsets in the record, plus TRACEPOINT_HEAD_BYTES. */
const struct tracepoint_own tracepoint_own[TRACEPOINT_OWN_MAX] = {
	[TRACEPOINT_OWN_FAULT] = {
		.name = "page_fault",
		.format = "name: page_fault\nID: 1\nformat:\n"
			FIELD("u64 address", 8, 8)
			FIELD("u64 ip", 16, 8)
			FIELD("u64 inode", 24, 8)
			FIELD("u64 offset", 32, 8)
			FIELD("u32 device", 40, 4)
			FIELD("__data_loc char[] file", 44, 4)
			FIELD("bool major", 48, 1)
			FIELD("bool mapped", 49, 1),
	},
	[TRACEPOINT_OWN_RTT] = {
		.name = "tcp_rtt",
		.format = "name: tcp_rtt\nID: 1\nformat:\n"
			FIELD("u16 sport", 8, 2)
			FIELD("u16 dport", 10, 2)
			FIELD("u16 family", 12, 2)
			FIELD("u8 saddr[4]", 16, 4)
			FIELD("u8 daddr[4]", 20, 4)
			FIELD("u8 saddr_v6[16]", 24, 16)
			FIELD("u8 daddr_v6[16]", 40, 16)
			FIELD("u32 srtt", 56, 4)
			FIELD("u32 rttvar", 60, 4)
			FIELD("u32 min_rtt", 64, 4)
			FIELD("u32 snd_cwnd", 68, 4)
			FIELD("u32 total_retrans", 72, 4),
		.needs = "tcp:tcp_probe",
	},
};

#define IS_AT(type, field, at)                                                                     \
	_Static_assert(offsetof(struct type, field) + TRACEPOINT_HEAD_BYTES == (at), "its format")
IS_AT(tracepoint_fault, offset, 32);
IS_AT(tracepoint_fault, file, 44);
IS_AT(tracepoint_fault, mapped, 49);
IS_AT(tracepoint_rtt, saddr_v6, 24);
IS_AT(tracepoint_rtt, srtt, 56);
IS_AT(tracepoint_rtt, total_retrans, 72);

unsigned tracepoint_own_find(const char *name)
{
	unsigned i = 0;

	while (i < TRACEPOINT_OWN_MAX && strcmp(tracepoint_own[i].name, name) != 0)
		i++;
	return i;
}

static bool tracepoint_own_is_member(const struct tracepoint_preset *preset, const char *name)
{
	const size_t n = strlen(TRACEPOINT_OWN_SYSTEM);
	const char *const *member = preset->members;

	for (; *member; member++)
		if (strncmp(*member, TRACEPOINT_OWN_SYSTEM ":", n + 1) == 0 &&
		    strcmp(*member + n + 1, name) == 0)
			return true;
	return false;
}

bool tracepoint_own_is_selected(const struct session_options *o, unsigned own)
{
	const char *name = tracepoint_own[own].name;

	for (size_t i = 0; i < o->tracepoints.n_specs; i++) {
		struct tracepoint_spec spec = { 0 };
		char why[VALUE_WHY_MAX];

		if (tracepoint_spec_parse(o->tracepoints.specs[i], &spec, why) < 0)
			continue;
		if (spec.preset ? tracepoint_own_is_member(spec.preset, name)
				: strcmp(spec.system, TRACEPOINT_OWN_SYSTEM) == 0 &&
					  fnmatch(spec.name, name, 0) == 0)
			return true;
	}
	return false;
}
