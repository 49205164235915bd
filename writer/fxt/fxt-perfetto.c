/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few protobuf bytes that we need, each message built inside out: a field of bytes is its tag,
 * its length, and the bytes. Field numbers are those of Perfetto's trace_packet.proto.
 */
#include "writer/fxt/fxt-perfetto.h"

#include <string.h>

enum {
	TRACE_PACKET = 1,        /* Trace.packet */
	PACKET_SYSTEM_INFO = 45, /* TracePacket.system_info */
	SYSTEM_INFO_UTSNAME = 1,
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE = 4,
	TEXT_MAX = 100,
};

static size_t put_varint(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

static size_t put_bytes(uint8_t *to, unsigned field, const void *data, size_t size)
{
	const unsigned wire_type_bytes = 2;
	size_t n = put_varint(to, field << 3 | wire_type_bytes);

	n += put_varint(to + n, size);
	memcpy(to + n, data, size);
	return n + size;
}

static size_t put_text(uint8_t *to, unsigned field, const char *text)
{
	return put_bytes(to, field, text, strnlen(text, TEXT_MAX));
}

size_t fxt_perfetto_system_info(uint8_t *to, const char *release, const char *machine)
{
	uint8_t utsname[FXT_PERFETTO_SYSTEM_INFO_MAX], info[FXT_PERFETTO_SYSTEM_INFO_MAX],
		packet[FXT_PERFETTO_SYSTEM_INFO_MAX];
	size_t n;

	n = put_text(utsname, UTSNAME_SYSNAME, "Linux");
	n += put_text(utsname + n, UTSNAME_RELEASE, release);
	n += put_text(utsname + n, UTSNAME_MACHINE, machine);
	n = put_bytes(info, SYSTEM_INFO_UTSNAME, utsname, n);
	n = put_bytes(packet, PACKET_SYSTEM_INFO, info, n);
	return put_bytes(to, TRACE_PACKET, packet, n);
}
