/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#pragma once

/* Of one CPU. */
struct tick_time {
	__u64 begin_ns; /* of the one that runs; 0 = none does */
	__u64 n, ns;
};
