/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's data about watched processes: a stage of the pipeline. The data is processed up to
 * the time of each record, since a record of a process follows all earlier data about it.
 */
#pragma once

#include "base/outbuf.h"
#include "capture/stages/stage.h"

struct news {
	const struct pipeline *pipe;
	struct outbuf records; /* struct rec_* from the worker; owned */
	size_t at;             /* the position of the first unwritten one */
};

extern const struct stage news_stage;
