/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Field numbers are from Perfetto's trace_packet.proto and system_info.proto.
 */
#include "writer/fxt/fxt-perfetto.h"

#include <string.h>

#include "base/protobuf.h"

enum {
	TRACE_PACKET = 1,        /* Trace.packet */
	PACKET_SYSTEM_INFO = 45, /* TracePacket.system_info */
	SYSTEM_INFO_UTSNAME = 1,
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE = 4,
	TEXT_MAX = 100,
};

static void fxt_perfetto_add_text(struct outbuf *to, unsigned field, const char *text)
{
	protobuf_add_bytes(to, field, text, strnlen(text, TEXT_MAX));
}

void fxt_perfetto_system_info(struct outbuf *to, const char *release, const char *machine)
{
	size_t packet = protobuf_begin(to, TRACE_PACKET);
	size_t info = protobuf_begin(to, PACKET_SYSTEM_INFO);
	size_t utsname = protobuf_begin(to, SYSTEM_INFO_UTSNAME);

	fxt_perfetto_add_text(to, UTSNAME_SYSNAME, "Linux");
	fxt_perfetto_add_text(to, UTSNAME_RELEASE, release);
	fxt_perfetto_add_text(to, UTSNAME_MACHINE, machine);
	protobuf_end(to, utsname);
	protobuf_end(to, info);
	protobuf_end(to, packet);
}
