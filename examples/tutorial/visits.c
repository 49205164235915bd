// SPDX-License-Identifier: GPL-2.0-or-later
// visits: a program that leaks memory, for docs/TUTORIAL.md. It counts the visits of a page. One
// request in eight is malformed and is refused.
//
//	cc -g -O1 -o visits visits.c
//
// With -DFIXED, it frees the visitor of a refused request.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct visitor {
	char name[32];
	char *page;
};

static struct visitor *last;

static __attribute__((noinline)) struct visitor *new_visitor(const char *request)
{
	struct visitor *visitor = calloc(1, sizeof(*visitor));
	const char *space = strchr(request, ' ');

	if (!visitor)
		abort();
	snprintf(visitor->name, sizeof(visitor->name), "%.*s", (int)(space - request), request);
	visitor->page = strdup(space + 1);
	return visitor;
}

static void free_visitor(struct visitor *visitor)
{
	if (visitor)
		free(visitor->page);
	free(visitor);
}

static int serve(const char *request)
{
	struct visitor *visitor = new_visitor(request);

	if (visitor->page[0] != '/') {
#ifdef FIXED
		free_visitor(visitor);
#endif
		return -1;
	}
	free_visitor(last);
	last = visitor;
	return 0;
}

int main(void)
{
	int served = 0, refused = 0;

	for (int i = 0; i < 8000; i++) {
		char request[64];

		snprintf(request, sizeof(request), "visitor%d %sindex.html", i, i % 8 ? "/" : "");
		if (serve(request) < 0)
			refused++;
		else
			served++;
	}
	printf("%d visits, %d refused\n", served, refused);
	return 0;
}
