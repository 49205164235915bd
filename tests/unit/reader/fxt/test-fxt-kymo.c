/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of a provider of kymo: whatever bit of it is wrong, times and names after it are right,
 * and the damage is reported. Other providers keep what they have.
 */
#include <limits.h>
#include <string.h>

#include "reader/fxt/fxt-check.h"
#include "reader/fxt/fxt-kymo.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-writer.h"

#define OK(call) assert_int_equal(call, 0)

enum { TICKS = 1000000000, TIME = 12346 };

struct head {
	struct outbuf bytes;
	struct fxt_out_provider provider;
	struct fxt_writer w;
	size_t end; /* of the head */
};

/* The head of a provider called NAME, with RATE, and the first N_NAMES names; and a switch. */
static void set_up(struct head *h, const char *name, uint64_t rate, unsigned n_names)
{
	const struct fxt_out_arg weights[] = {
		{ .type = FXT_ARG_INT32, .name = fxt_named(FXT_NAME_OUTGOING_WEIGHT), .i32 = 7 },
		{ .type = FXT_ARG_INT32, .name = fxt_named(FXT_NAME_INCOMING_WEIGHT), .i32 = 8 },
	};

	*h = (struct head){ .w.out = &h->bytes };
	OK(fxt_out_provider_init(&h->provider, 1));
	OK(fxt_write_magic(&h->w));
	OK(fxt_write_provider_info(&h->w, &h->provider, name));
	OK(fxt_write_section(&h->w, &h->provider));
	OK(fxt_write_initialization(&h->w, rate));
	for (unsigned i = 1; n_names > 0 && i <= FXT_NAME_RESERVED; i++) {
		if (!fxt_name_texts[i])
			continue;
		OK(fxt_write_string(&h->w, i, fxt_name_texts[i], strlen(fxt_name_texts[i])));
		n_names--;
	}
	h->end = h->bytes.size;
	OK(fxt_write_switch(&h->w,
			    &(struct fxt_switch){ TIME, 0, FXT_STATE_BLOCKED, 5, 6, weights, 2 }));
}

static void tear_down(struct head *h)
{
	fxt_out_provider_deinit(&h->provider);
	outbuf_deinit(&h->bytes);
}

struct result {
	unsigned n_damages, n_errors, n_weights, n_switches;
	uint64_t ts_ns;
	bool named;
};

static void read_all(const struct head *h, struct result *ret)
{
	struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	int r;

	*ret = (struct result){ 0 };
	OK(fxt_reader_new_memory(&reader, h->bytes.data, h->bytes.size));
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		struct fxt_findings findings;

		if (r == FXT_READER_DAMAGE) {
			ret->n_damages++;
			continue;
		}
		fxt_check_record(record, &findings);
		ret->n_errors += findings.n_errors;
		if (record->type != FXT_RECORD_SCHEDULING)
			continue;
		ret->n_switches++;
		ret->n_weights += findings.facts.out_weight + findings.facts.in_weight;
		ret->ts_ns = record->ts_ns;
		ret->named = strcmp(record->provider->name, "kymo") == 0;
	}
	assert_int_equal(r, FXT_READER_END);
	fxt_reader_free(reader);
}

/* Each bit behind the magic number, up to the last string that the switch needs. */
TEST(test_any_bit)
{
	struct result good, is;
	struct head h;

	set_up(&h, "kymo", TICKS, UINT_MAX);
	read_all(&h, &good);
	assert_int_equal(good.n_switches, 1);
	assert_int_equal(good.n_weights, 2);
	assert_int_equal(good.n_damages + good.n_errors, 0);
	for (size_t bit = 64; bit < 8 * (size_t)160; bit++) {
		h.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		read_all(&h, &is);
		h.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (is.n_switches != 1 || is.n_weights != 2 || is.ts_ns != TIME || !is.named)
			fail_msg("bit %zu of byte %zu: %u switches, %u weights, at %llu%s", bit % 8,
				 bit / 8, is.n_switches, is.n_weights, (unsigned long long)is.ts_ns,
				 is.named ? "" : ", no name");
		/* (a header can be another valid one) */
		if (bit / 64 == 5 || bit / 64 == 7)
			assert_int_equal(is.n_damages, 1);
	}
	tear_down(&h);
}

/* Another rate, and other strings, of providers that are not kymo's. */
TEST(test_others)
{
	static const struct {
		const char *name;
		unsigned n_names;
		uint64_t ts_ns;
	} cases[] = {
		{ "kymo", 3, TIME / 2 },
		{ "kymo", 4, TIME },
		{ "app", 15, TIME / 2 },
		{ "app", 16, TIME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct result is;
		struct head h;

		set_up(&h, cases[i].name, 2 * (uint64_t)TICKS, cases[i].n_names);
		read_all(&h, &is);
		assert_int_equal(is.ts_ns, cases[i].ts_ns);
		assert_int_equal(is.n_damages, cases[i].ts_ns == TIME);
		tear_down(&h);
	}
}

/* Another version of kymo can have other names at some places. */
TEST(test_other_versions)
{
	struct fxt_provider *p;
	struct fxt_text t;

	OK(fxt_provider_new(&p, 1));
	strcpy(p->name, "kymo");
	p->name_length = 4;
	for (unsigned i = 1; i <= FXT_NAME_RESERVED; i++) {
		const char *text = i == FXT_NAME_SHED    ? "former"
				   : i == FXT_NAME_CHUNK ? "shed"
				   : i == FXT_NAME_PLAN  ? NULL
							 : fxt_name_texts[i];

		if (!text)
			continue;
		OK(fxt_provider_set_string(p, i, text, (uint32_t)strlen(text)));
		assert_null(fxt_kymo_see_string(p, i, false));
	}
	assert_true(p->is_kymo);
	t = fxt_provider_string(p, FXT_NAME_SHED);
	assert_true(t.length == 6 && memcmp(t.bytes, "former", 6) == 0);
	t = fxt_provider_string(p, FXT_NAME_CHUNK);
	assert_int_equal(t.known, FXT_NAME_SHED);
	assert_false(fxt_kymo_has_added(&t));
	/* (a reference to it would mean this) */
	t = fxt_provider_string(p, FXT_NAME_PLAN);
	assert_int_equal(t.known, FXT_NAME_PLAN);
	assert_true(fxt_kymo_has_added(&t));
	fxt_provider_free(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_bit),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_other_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
