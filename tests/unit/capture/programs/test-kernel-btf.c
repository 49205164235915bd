/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF that libbpf makes, and the results of searches in it; an extract of it, read by libbpf.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "capture/programs/kernel-btf.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

DEFINE_CLEANUP(struct btf *, btf__free)

/* struct outer { struct inner *far; struct inner near[2]; enum color color; }, and two more. */
static struct btf *make_btf(void)
{
	struct btf *btf = btf__new_empty();
	int number, alias, inner, pointer, array, color, more;

	assert_non_null(btf);
	assert_true(btf__add_func(btf, "outer", BTF_FUNC_STATIC, btf__add_func_proto(btf, 0)) > 0);
	number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	alias = btf__add_typedef(btf, "number", number);
	inner = btf__add_struct(btf, "inner", 8);
	assert_int_equal(btf__add_field(btf, "first", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "second", alias, 32, 0), 0);
	pointer = btf__add_ptr(btf, inner);
	array = btf__add_array(btf, number, btf__add_const(btf, inner), 2);
	color = btf__add_enum(btf, "color", 4);
	assert_int_equal(btf__add_enum_value(btf, "RED", 7), 0);
	assert_true(btf__add_struct(btf, "outer", 32) > 0);
	assert_int_equal(btf__add_field(btf, "far", pointer, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "near", array, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "color", color, 192, 0), 0);
	more = btf__add_struct(btf, "other", 4);
	assert_int_equal(btf__add_field(btf, "x", number, 0, 0), 0);
	assert_true(btf__add_typedef(btf, "outer_alias", more) > 0);
	return btf;
}

static void write_btf(const struct btf *btf)
{
	uint32_t n = 0;
	const void *data = btf__raw_data(btf, &n);

	assert_non_null(data);
	put_bytes(".", "/btf", data, n);
}

static struct kernel_btf *open_made(void)
{
	_cleanup_(btf__freep) struct btf *btf = make_btf();
	struct kernel_btf *ret = NULL;

	write_btf(btf);
	assert_int_equal(kernel_btf_open_file("btf", &ret), 0);
	return ret;
}

TEST(test_find)
{
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = open_made();
	_cleanup_(btf__freep) struct btf *made = make_btf();
	struct kernel_btf_name names[] = {
		{ "outer", BTF_KIND_STRUCT, 9 }, { "outer", BTF_KIND_FUNC, 9 },
		{ "inner", BTF_KIND_STRUCT, 9 }, { "inner", BTF_KIND_UNION, 9 },
		{ "inne", BTF_KIND_STRUCT, 9 },  { "", BTF_KIND_STRUCT, 9 },
	};

	assert_int_equal(kernel_btf_find(btf, names, ARRAY_SIZE(names)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int id = btf__find_by_name_kind(made, names[i].name, names[i].kind);

		assert_int_equal(names[i].id, id > 0 ? id : 0);
	}
}

/* Reads the extract of BTF's types NAMES with libbpf. */
static struct btf *extract(const struct kernel_btf *btf, const char *const *names, size_t n)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	struct btf *ret;

	assert_int_equal(kernel_btf_extract(btf, names, n, &bytes), 0);
	ret = btf__new(bytes.data, (uint32_t)bytes.size);
	assert_non_null(ret);
	return ret;
}

TEST(test_extract)
{
	static const char *const names[] = { "outer", "no_such_type" };
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = open_made();
	_cleanup_(btf__freep) struct btf *found = extract(btf, names, ARRAY_SIZE(names));
	int outer = btf__find_by_name_kind(found, "outer", BTF_KIND_STRUCT);
	const struct btf_type *t, *far;

	assert_true(outer > 0);
	assert_true(btf__find_by_name_kind(found, "inner", BTF_KIND_STRUCT) > 0);
	assert_true(btf__find_by_name_kind(found, "color", BTF_KIND_ENUM) > 0);
	assert_true(btf__find_by_name_kind(found, "other", BTF_KIND_STRUCT) < 0);
	assert_true(btf__find_by_name_kind(found, "outer", BTF_KIND_FUNC) < 0);
	t = btf__type_by_id(found, (uint32_t)outer);
	assert_int_equal(t->size, 32);
	assert_int_equal(btf_vlen(t), 3);
	assert_string_equal(btf__name_by_offset(found, btf_members(t)[1].name_off), "near");
	assert_int_equal(btf_member_bit_offset(t, 2), 192);
	assert_int_equal(btf__resolve_size(found, btf_members(t)[1].type), 16);
	far = btf__type_by_id(found, btf_members(t)[0].type);
	assert_true(btf_is_ptr(far));
	assert_int_equal(far->type, 0);
	t = btf__type_by_id(found, btf_members(t)[2].type);
	assert_string_equal(btf__name_by_offset(found, btf_enum(t)->name_off), "RED");
	assert_int_equal(btf_enum(t)->val, 7);
}

/* Each truncation is refused, and each single damaged byte is harmless. */
TEST(test_damaged)
{
	static const char *const names[] = { "outer" };
	_cleanup_(btf__freep) struct btf *made = make_btf();
	struct kernel_btf *btf = NULL;
	uint32_t n = 0;
	const uint8_t *data = btf__raw_data(made, &n);
	_cleanup_free_ uint8_t *copy = malloc(n);

	assert_non_null(data);
	assert_non_null(copy);
	for (uint32_t i = 1; i < n; i++) {
		put_bytes(".", "/btf", data, i);
		assert_int_equal(kernel_btf_open_file("btf", &btf), -EBADMSG);
	}
	for (uint32_t i = 0; i < n; i++) {
		_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };

		memcpy(copy, data, n);
		copy[i] ^= 0xff;
		put_bytes(".", "/btf", copy, n);
		if (kernel_btf_open_file("btf", &btf) < 0)
			continue;
		assert_true(kernel_btf_extract(btf, names, 1, &bytes) <= 0);
		btf = kernel_btf_free(btf);
	}
	assert_int_equal(kernel_btf_open_file("missing", &btf), -ENOENT);
}

/* In the kernel's own BTF, too, each member is where libbpf finds it. */
TEST(test_kernel)
{
	static const char *const names[] = { "task_struct", "pt_regs", "vm_area_struct", "rq" };
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = NULL;
	_cleanup_(btf__freep) struct btf *whole = btf__load_vmlinux_btf(), *found = NULL;

	if (kernel_btf_open(&btf) < 0)
		return;
	assert_non_null(whole);
	found = extract(btf, names, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int a = btf__find_by_name_kind(whole, names[i], BTF_KIND_STRUCT);
		int b = btf__find_by_name_kind(found, names[i], BTF_KIND_STRUCT);
		const struct btf_type *s = btf__type_by_id(whole, (uint32_t)a);
		const struct btf_type *t = btf__type_by_id(found, (uint32_t)b);

		assert_true(a > 0 && b > 0);
		assert_int_equal(s->size, t->size);
		assert_int_equal(btf_vlen(s), btf_vlen(t));
		for (unsigned m = 0; m < btf_vlen(s); m++) {
			const char *name = btf__name_by_offset(whole, btf_members(s)[m].name_off);

			assert_string_equal(btf__name_by_offset(found, btf_members(t)[m].name_off),
					    name);
			assert_int_equal(btf_members(s)[m].offset, btf_members(t)[m].offset);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_extract),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
