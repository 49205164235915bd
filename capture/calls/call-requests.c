/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-requests.h"

#include <asm/ioctl.h>
#include <stdio.h>
#include <string.h>

bool call_request_type(uint32_t request, struct call_type *ret)
{
	uint32_t bytes = _IOC_SIZE(request), direction = _IOC_DIR(request);
	bool reads = direction & _IOC_READ, writes = direction & _IOC_WRITE;

	if (bytes == 0 || (!reads && !writes))
		return false;
	/* (the names are those of the program: _IOC_READ means that the kernel writes) */
	*ret = (struct call_type){ .form = CALL_BUF,
				   .bits = 64,
				   .in_hex = true,
				   .out = reads,
				   .in_out = reads && writes,
				   .count = bytes };
	return true;
}

const struct call_text *call_request_limit(const struct call_text *text, uint32_t bytes,
					   struct call_text *to)
{
	if (!text)
		return NULL;
	to->bytes = text->bytes;
	to->cut = text->bytes >= 0 && bytes > (uint32_t)text->bytes;
	if (to->bytes > 0 && (uint32_t)to->bytes > bytes)
		to->bytes = (int32_t)bytes;
	if (to->bytes > 0)
		memcpy(to->text, text->text, (size_t)to->bytes);
	return to;
}

void call_request_format(uint32_t request, char to[static CALL_SET_TEXT_MAX])
{
	static const char *const directions[] = {
		[_IOC_NONE] = "_IOC_NONE",
		[_IOC_READ] = "_IOC_READ",
		[_IOC_WRITE] = "_IOC_WRITE",
		[_IOC_READ | _IOC_WRITE] = "_IOC_READ|_IOC_WRITE",
	};

	snprintf(to, CALL_SET_TEXT_MAX, "_IOC(%s, %#x, %#x, %#x)", directions[_IOC_DIR(request)],
		 _IOC_TYPE(request), _IOC_NR(request), _IOC_SIZE(request));
}
