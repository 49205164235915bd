/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables made in the sandbox (sandbox.h). The answers of the sandboxed process are not trusted,
 * because that process has read an untrusted file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/sandbox/sandbox.h"
#include "capture/unwind/unwind-table.h"

void unwind_table_pack(const struct unwind_table *table, struct outbuf *to)
{
	struct unwind_table head = *table;

	head.rows = NULL;
	outbuf_append(to, &head, sizeof(head));
	outbuf_append(to, table->rows, table->n_rows * sizeof(table->rows[0]));
}

static int unwind_table_answer(const void *data, size_t n, struct outbuf *to)
{
	struct unwind_table table;
	int r = unwind_table_read(data, n, &table);

	if (r < 0)
		return r;
	unwind_table_pack(&table, to);
	unwind_table_deinit(&table);
	return to->error;
}

/* ---- checks ---- */

static bool unwind_table_rule_is_valid(uint32_t rule)
{
	uint32_t kind = UNWIND_RULE_KIND(rule);
	int offset = UNWIND_RULE_OFFSET(rule);

	switch (kind) {
	case UNWIND_NONE:
	case UNWIND_END:
	case UNWIND_SIGNAL:
	case UNWIND_UNPROVEN:
		return rule == kind;
	case UNWIND_CODE_SP:
	case UNWIND_CODE_BP:
		return UNWIND_RULE_BP(rule) != UNWIND_BP_AT_BP && offset > 0;
	case UNWIND_PLT:
		return offset >= 0 && offset < 16;
	case UNWIND_UNSUPPORTED:
		return UNWIND_RULE_BP(rule) == 0 && offset >= 0 && offset < _UNWIND_WHYS;
	}
	return kind < _UNWIND_KINDS;
}

/*
 * Returns true if rows are valid: they are sorted, neighbours have different rules, and the last
 * row has no rule.
 */
static bool unwind_table_rows_are_valid(const struct unwind_table *table)
{
	const struct unwind_row *rows = table->rows;
	uint32_t n = table->n_rows;

	for (uint32_t i = 0; i < n; i++) {
		if (!unwind_table_rule_is_valid(rows[i].rule) ||
		    rows[i].address == UNWIND_NO_ADDRESS)
			return false;
		if (i > 0 &&
		    (rows[i].address <= rows[i - 1].address || rows[i].rule == rows[i - 1].rule))
			return false;
	}
	return n == 0 ||
	       (rows[0].address == 0 && rows[n - 1].rule == UNWIND_RULE(UNWIND_NONE, 0, 0));
}

static bool unwind_table_segments_are_valid(const struct unwind_table *table, uint64_t file_bytes)
{
	if (table->n_segments > UNWIND_SEGMENTS_MAX)
		return false;
	for (uint32_t i = 0; i < table->n_segments; i++) {
		const struct unwind_segment *segment = &table->segments[i];

		if (segment->size == 0 || segment->offset > file_bytes ||
		    segment->size > file_bytes - segment->offset ||
		    segment->address > UINT64_MAX - segment->size ||
		    segment->address < table->first_address)
			return false;
	}
	return true;
}

bool unwind_table_is_valid(const struct unwind_table *table, uint64_t file_bytes)
{
	return table->n_build_id <= sizeof(table->build_id) && table->n_rows <= UNWIND_ROWS_MAX &&
	       unwind_table_segments_are_valid(table, file_bytes) &&
	       unwind_table_rows_are_valid(table);
}

/* ---- the parent ---- */

int unwind_table_unpack(const void *data, size_t size, uint64_t file_bytes,
			struct unwind_table *ret)
{
	struct unwind_table table;
	size_t n;

	if (size < sizeof(table))
		return -EBADMSG;
	memcpy(&table, data, sizeof(table));
	table.rows = NULL;
	n = size - sizeof(table);
	if (table.n_rows > UNWIND_ROWS_MAX || n != table.n_rows * sizeof(table.rows[0]))
		return -EBADMSG;
	if (n > 0) {
		table.rows = malloc(n);
		if (!table.rows)
			return -ENOMEM;
		memcpy(table.rows, (const uint8_t *)data + sizeof(table), n);
	}
	if (!unwind_table_is_valid(&table, file_bytes)) {
		unwind_table_deinit(&table);
		return -EBADMSG;
	}
	*ret = table;
	return 0;
}

int unwind_table_read_sandboxed(int fd, uint64_t timeout_ns, struct unwind_table *ret)
{
	struct outbuf answer = { .limit = UNWIND_TABLE_PACKED_MAX };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = sandbox_run(fd, unwind_table_answer, timeout_ns, UNWIND_TABLE_PACKED_MAX, &answer)
		    ?: unwind_table_unpack(answer.data, answer.size, (uint64_t)st.st_size, ret);
	outbuf_deinit(&answer);
	return r;
}
