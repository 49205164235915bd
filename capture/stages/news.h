/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * News, which is the worker's data about watched processes: a stage of the pipeline. Before a
 * record is processed, the data up to its time is processed, since a record of a process follows
 * all earlier data about the process.
 */
#pragma once

#include "base/outbuf.h"
#include "capture/stages/stage.h"

struct news {
	const struct pipeline *pipe;
	struct outbuf records; /* struct rec_* from the worker; owned */
	size_t at;             /* the position of the first record that is not processed yet */
};

extern const struct stage news_stage;
