/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/apitrace/apitrace-finding.h"

const struct finding_kind apitrace_finding_kinds[APITRACE_FINDING_MAX] = {
	[APITRACE_DAMAGED] = { FINDING_ERROR, "call-damaged", "the trace cannot be read further",
			       "In a call trace, the meaning of each byte depends on the bytes before it. So data "
			       "after damage cannot be read. All calls before the damage were read, and open calls "
			       "are shown as incomplete. apitrace also ends there, often without a message." },
	[APITRACE_CONTAINER] = { FINDING_ERROR, "call-container",
				 "the container of the trace is damaged",
				 "A chunk, frame or member cannot be decompressed, or it is truncated. The calls before "
				 "it were read." },
	[APITRACE_SEMANTICS] = { FINDING_ERROR, "call-semantics",
				 "the semantic version is above the format's version",
				 "apitrace aborts when it opens such a file." },
	[APITRACE_ARG_UNDECLARED] = { FINDING_ERROR, "call-argument",
				      "an argument that the function does not declare",
				      "The first call of a function declares the names of its arguments. When apitrace prints "
				      "an argument that is not declared, it reads beyond the end of this list. kymo skips "
				      "the argument." },
	[APITRACE_LEAVE_WITHOUT_ENTER] = { FINDING_WARNING, "call-leave",
					   "the end of a call that is not open",
					   "A leave event refers to a call without an enter event, or to a call that has already "
					   "ended. Readers skip it." },
	[APITRACE_ZERO_FLAG] = { FINDING_WARNING, "call-zero-flag",
				 "a flag with value 0 that is not the first flag",
				 "Readers take the name of an empty bitmask from its first flag." },
	[APITRACE_SPARSE_ID] = { FINDING_WARNING, "call-sparse-id",
				 "ids of signatures with large gaps",
				 "apitrace has a vector of signatures with the id as index, so it allocates a lot of "
				 "memory for a large id. Count ids from 0." },
	[APITRACE_FORGOTTEN] = { FINDING_WARNING, "call-forgotten", "too many open calls",
				 "Open calls use memory until the end of the file. Above 256 MiB, the oldest ones are "
				 "shown as incomplete, and their ends are ignored." },
	[APITRACE_NEVER_LEFT] = { FINDING_NOTE, "call-incomplete", "a call without an end",
				  "The trace or the thread ended during the call, or the call does not return." },
};
