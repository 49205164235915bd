/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list-unwind [--summary] [--sandbox] FILE ...: prints the unwind tables of ELF files, one row per
 * line: its begin as an address of the file, the rule for the CFA, and the place of the caller's
 * BP. With --summary, prints the numbers of rows.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/sandbox/sandbox.h"
#include "capture/unwind/unwind-table.h"

static const char *const kinds[_UNWIND_KINDS] = {
	[UNWIND_NONE] = "none",
	[UNWIND_END] = "end",
	[UNWIND_SP] = "sp",
	[UNWIND_BP] = "bp",
	[UNWIND_SP_DEREF] = "*sp",
	[UNWIND_SP_DEREF_8] = "8+*sp",
	[UNWIND_BP_DEREF] = "*bp",
	[UNWIND_BP_DEREF_8] = "8+*bp",
	[UNWIND_PLT] = "plt",
	[UNWIND_SIGNAL] = "signal",
	[UNWIND_UNSUPPORTED] = "unsupported",
	[UNWIND_UNPROVEN] = "unproven",
	[UNWIND_CODE_SP] = "code sp",
	[UNWIND_CODE_BP] = "code bp",
};

static const char *const whys[_UNWIND_WHYS] = {
	[UNWIND_WHY_REGISTER] = "register",
	[UNWIND_WHY_OFFSET] = "offset",
	[UNWIND_WHY_EXPRESSION] = "expression",
	[UNWIND_WHY_RETURN] = "return",
	[UNWIND_WHY_BP] = "bp",
	[UNWIND_WHY_DAMAGED] = "damaged",
};

static void print_rule(uint32_t rule)
{
	uint32_t kind = UNWIND_RULE_KIND(rule), bp = UNWIND_RULE_BP(rule);
	int offset = UNWIND_RULE_OFFSET(rule);

	if (kind >= UNWIND_CODE_SP)
		printf("%s%+d", kinds[kind], 8 * offset);
	else if (kind >= UNWIND_RETURN_IN(0))
		printf("sp%+d, ip in r%u", 8 * offset, kind - UNWIND_RETURN_IN(0));
	else if (kind >= UNWIND_REGISTER(0))
		printf("r%u%+d", kind - UNWIND_REGISTER(0), 8 * offset);
	else if (UNWIND_IS_SP_FAR(rule))
		printf("sp%+d", 8 * (int)UNWIND_SP_FAR_WORDS(rule));
	else
		printf("%s", kinds[kind]);
	if (kind == UNWIND_UNSUPPORTED)
		printf(" %s", whys[offset]);
	else if (kind == UNWIND_PLT)
		printf(" %d", offset);
	else if (kind >= UNWIND_SP && kind <= UNWIND_BP_DEREF_8)
		printf("%+d", 8 * offset);
	if (bp == UNWIND_BP_AT_BP)
		printf(", bp at bp");
	else if (bp != UNWIND_BP_SAME)
		printf(", bp at cfa-%u", 8 * bp);
	putchar('\n');
}

static void print_rows(const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->n_rows; i++) {
		printf("%" PRIx64 " ", table->first_address + table->rows[i].address);
		print_rule(table->rows[i].rule);
	}
}

static void print_summary(const char *path, const struct unwind_table *table, uint64_t ns)
{
	printf("%s: %u rows, %zu bytes, %" PRIu64 " us", path, table->n_rows,
	       table->n_rows * sizeof(table->rows[0]), ns / 1000);
	for (unsigned i = 0; i < _UNWIND_WHYS; i++) {
		if (table->n_unsupported[i] > 0)
			printf(", %s %u", whys[i], table->n_unsupported[i]);
	}
	putchar('\n');
}

static int list_unwind_read(int fd, bool sandbox, struct unwind_table *ret)
{
	void *data;
	size_t n;
	int r;

	if (sandbox)
		return unwind_table_read_sandboxed(fd, UINT64_C(60) * 1000000000, ret);
	r = sandbox_map_file(fd, &data, &n);
	if (r < 0)
		return r;
	r = unwind_table_read(data, n, ret);
	munmap(data, n);
	return r;
}

static int list_unwind(const char *path, bool summary, bool sandbox)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t start = clock_read_ns(CLOCK_MONOTONIC);
	struct unwind_table table;
	int r = fd < 0 ? -errno : list_unwind_read(fd, sandbox, &table);

	if (r < 0) {
		fprintf(stderr, "list-unwind: %s: %s\n", path, strerror(-r));
		return r;
	}
	if (summary)
		print_summary(path, &table, clock_read_ns(CLOCK_MONOTONIC) - start);
	else
		print_rows(&table);
	unwind_table_deinit(&table);
	return 0;
}

int main(int argc, char **argv)
{
	bool summary = false, sandbox = false;
	int r = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--summary") == 0)
			summary = true;
		else if (strcmp(argv[i], "--sandbox") == 0)
			sandbox = true;
		else if (list_unwind(argv[i], summary, sandbox) < 0)
			r = 1;
	}
	return r;
}
