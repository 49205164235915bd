/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "writer/rtrace/rtrace-writer.h"

/* Writes a resource that tools know. Returns as rtrace_write_resource(). */
static inline int write_known_resource(struct rtrace_writer *w, enum rtrace_known_resource which)
{
	const struct rtrace_resource r = rtrace_known_resource(which);

	return rtrace_write_resource(w, &r);
}
