/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler, the hints, the schema and the manual trust the option tables: they must hold
 * together. */
#include "plan/elements.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "flowop/files.h"
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/transport.h"

static const size_t sizes[NM_TYPE__COUNT] = {
	[NM_TYPE_FLAG] = sizeof(bool),
	[NM_TYPE_COUNT] = sizeof(uint64_t),
	[NM_TYPE_COUNTS] = sizeof(struct nm_law),
	[NM_TYPE_SIZE] = sizeof(uint64_t),
	[NM_TYPE_DURATION] = sizeof(uint64_t),
	[NM_TYPE_RATE] = sizeof(double),
	[NM_TYPE_BITRATE] = sizeof(double),
	[NM_TYPE_PORT] = sizeof(uint64_t),
	[NM_TYPE_STRING] = sizeof(char *),
	[NM_TYPE_HOST] = sizeof(char *),
	[NM_TYPE_ENUM] = sizeof(int),
	[NM_TYPE_INTEGER] = sizeof(uint64_t),
	[NM_TYPE_SIZES] = sizeof(struct nm_law),
	[NM_TYPE_DURATIONS] = sizeof(struct nm_law),
	[NM_TYPE_DURATION_RANGE] = sizeof(struct nm_duration_range),
};

/* Names and aliases are words of one kind, and each means one option. */
static void assert_name(const struct nm_opt *table, const struct nm_opt *opt, const char *name)
{
	ck_assert_uint_gt(strlen(name), 0);
	ck_assert_msg(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name), "%s",
		      name);
	ck_assert_msg(nm_opt_find(table, name) == opt, "%s means two options", name);
}

static void assert_help(const char *whose, const char *help)
{
	ck_assert_msg(help && *help, "%s has no help", whose);
	ck_assert_msg(help[strlen(help) - 1] != '.', "the help of %s ends with a dot", whose);
}

/* A law is a struct, and aligned as its numbers are. */
static size_t alignment_of(enum nm_type type)
{
	return sizes[type] < sizeof(uint64_t) ? sizes[type] : sizeof(uint64_t);
}

/* `size` 0: of an element, whose struct this test does not know. */
static void assert_table(const char *whose, const struct nm_opt *table, size_t size)
{
	char *base = calloc(1, size ? size : 4096);

	ck_assert_msg(table != NULL, "%s has no table", whose);
	for (const struct nm_opt *opt = table; opt->name; opt++) {
		assert_name(table, opt, opt->name);
		if (opt->alias)
			assert_name(table, opt, opt->alias);
		assert_help(opt->name, opt->help);
		if (size)
			ck_assert_msg(opt->offset + sizes[opt->type] <= size,
				      "%s of %s is beyond the struct", opt->name, whose);
		ck_assert_msg(opt->offset % alignment_of(opt->type) == 0, "%s of %s", opt->name,
			      whose);
		ck_assert_int_eq(opt->type == NM_TYPE_ENUM, opt->choices != NULL);
		ck_assert_msg(!opt->required || !opt->def, "%s needs no default", opt->name);
	}
	ck_assert_msg(nm_opts_defaults(table, base) == 0, "the defaults of %s", whose);
	nm_opts_fini(table, base);
	free(base);
}

START_TEST(flowops)
{
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++) {
		assert_help((*op)->name, (*op)->help);
		assert_table((*op)->name, (*op)->opts, (*op)->opts_size);
		ck_assert_ptr_eq(nm_flowop_find((*op)->name), *op);
		ck_assert_uint_eq((*op)->flags & NM_FLOWOP_INTERNAL, 0);
		ck_assert(nm_flowop_is_named(*op));
		ck_assert_msg((*op)->step != NULL, "%s does nothing", (*op)->name);
	}
	ck_assert_ptr_null(nm_flowop_find("zebra"));
	ck_assert_ptr_null(nm_flowop_find(nm_flowop_recvfile.name));
	ck_assert_uint_ne(nm_flowop_recvfile.flags & NM_FLOWOP_INTERNAL, 0);
	assert_table("recvfile", nm_flowop_recvfile.opts, nm_flowop_recvfile.opts_size);
	ck_assert_ptr_null(nm_flowop_find(nm_flowop_exchanged.name));
	ck_assert(nm_flowop_is_named(&nm_flowop_recvfile) &&
		  nm_flowop_is_named(&nm_flowop_exchanged));
	ck_assert(!nm_flowop_is_named(NULL));
}
END_TEST

#define BOTH (NM_FLOWOP_INITIATES | NM_FLOWOP_FOLLOWS)

/* Two ends move alike, and one of the two begins. The other end of the other end may be another
 * flowop: discard is answered by write, which read answers. */
START_TEST(mirrors)
{
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++) {
		const struct nm_flowop *other = (*op)->mirror_op;
		unsigned hidden = other ? other->flags & NM_FLOWOP_INTERNAL : 0;

		if (!(*op)->mirror_op)
			continue;
		ck_assert_msg(other->mirror_op != NULL, "the mirror of %s", other->name);
		ck_assert_uint_eq(((*op)->flags & ~BOTH) | hidden, other->flags & ~BOTH);
		ck_assert_msg(((*op)->flags & BOTH) != BOTH, "%s", (*op)->name);
		if ((*op)->flags & BOTH)
			ck_assert_uint_eq((*op)->flags & BOTH, ~other->flags & BOTH);
	}
}
END_TEST

/* The compiler reads these structs by their beginning. */
START_TEST(structs_begin_alike)
{
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++) {
		const struct nm_opt *table = (*op)->opts;

		if ((*op)->flags & NM_FLOWOP_FILES)
			ck_assert_uint_eq(nm_opt_find(table, "dir")->offset,
					  offsetof(struct nm_opts_files, dir));
		else if ((*op)->flags & NM_FLOWOP_MOVES)
			ck_assert_uint_eq(nm_opt_find(table, "size")->offset,
					  offsetof(struct nm_opts_message, size));
		if (!((*op)->flags & NM_FLOWOP_OPENS))
			continue;
		ck_assert_uint_eq(nm_opt_find(table, "remotehost")->offset,
				  offsetof(struct nm_opts_open, remotehost));
		ck_assert_uint_eq(nm_opt_find(table, "protocol")->offset,
				  offsetof(struct nm_opts_open, protocol));
		ck_assert_ptr_nonnull(nm_transport_find(nm_opt_find(table, "protocol")->def));
	}
}
END_TEST

/* An opening has the options of both: no name may mean two. */
START_TEST(transports)
{
	for (const struct nm_transport *const *t = nm_transports; *t; t++) {
		assert_help((*t)->name, (*t)->help);
		assert_table((*t)->name, (*t)->opts, (*t)->opts_size);
		if (nm_transport_message_opts(*t))
			assert_table((*t)->name, nm_transport_message_opts(*t),
				     (*t)->message->opts_size);
		ck_assert_ptr_eq(nm_transport_find((*t)->name), *t);
		for (const struct nm_flowop *const *op = nm_flowops; *op; op++)
			for (const struct nm_opt *opt = (*t)->opts; opt->name; opt++)
				ck_assert_msg(!((*op)->flags & NM_FLOWOP_OPENS) ||
						      !nm_opt_find((*op)->opts, opt->name),
					      "%s of %s and %s", opt->name, (*op)->name,
					      (*t)->name);
		ck_assert_msg(!(*t)->send == !(*t)->recv, "%s", (*t)->name);
		ck_assert_msg((*t)->caps & NM_TRANSPORT_NO_PEER || ((*t)->listen && (*t)->endpoint),
			      "%s reaches nobody", (*t)->name);
	}
	ck_assert_ptr_null(nm_transport_find("zebra"));
}
END_TEST

START_TEST(elements)
{
	size_t roots = 0;

	for (const struct nm_element *e = nm_elements; e->name; e++) {
		assert_help(e->name, e->help);
		assert_table(e->name, e->attrs, 0);
		ck_assert_ptr_eq(nm_element_find(e->name), e);
		roots += e->parents[0] == NULL;
		for (size_t i = 0; e->parents[i]; i++)
			ck_assert(nm_element_find(e->parents[i]) &&
				  nm_element_is_in(e, e->parents[i]));
		ck_assert(!nm_element_is_in(e, e->name));
	}
	ck_assert_uint_eq(roots, 1);
	ck_assert_ptr_null(nm_element_find("zebra"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *tc = tcase_create("tables");

	tcase_add_test(tc, flowops);
	tcase_add_test(tc, mirrors);
	tcase_add_test(tc, structs_begin_alike);
	tcase_add_test(tc, transports);
	tcase_add_test(tc, elements);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
