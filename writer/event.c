/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/event.h"

const char *const event_class_names[CLASS_MAX] = {
	[CLASS_SCHED] = "sched",
	[CLASS_LIFECYCLE] = "lifecycle",
};
