/* SPDX-License-Identifier: Apache-2.0 */
/* Figures: each value of a result is declared once, in a table, with its name in the JSON document,
 * its key of --format kv, its column of --format csv, its type and its meaning. The reports and the
 * published schema (docs/netmodel-result.schema.json) are made by walking these tables. Tables for
 * people (text.c) are written by hand. */
#ifndef NM_REPORT_FIGURE_H
#define NM_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "base/field.h"
#include "result/runs.h"

/* The place of a walk: the struct whose figures are shown, and the structs around it. */
struct nm_at {
	const struct nm_at *parent; /* NULL: the document */
	const struct nm_runs *runs;
	const struct nm_result *result;
	const void *item;
	size_t index; /* of the item in its list */
};

enum nm_figure_kind {
	NM_FIGURE_MADE,	   /* any JSON, by `make`; only there */
	NM_FIGURE_COUNT,   /* uint64_t */
	NM_FIGURE_COUNT32, /* uint32_t or unsigned */
	NM_FIGURE_SIZE,	   /* size_t; in JSON only */
	NM_FIGURE_SIGNED,  /* int64_t */
	NM_FIGURE_BOOL,	   /* bool */
	NM_FIGURE_REAL,	   /* double, of seconds unless `schema` says otherwise; NaN: not known */
	NM_FIGURE_RATE,	   /* computed by `rate`, or a double; NaN: not known */
	NM_FIGURE_SHARE,   /* computed by `rate`, 0 to 1 */
	NM_FIGURE_TEXT,	   /* char *; NULL: not known */
	NM_FIGURE_CHARS,   /* char[]; "": not known */
	NM_FIGURE_NAME,	   /* char *; NULL and "": not known */
	NM_FIGURE_INDEX,   /* the place of the item in its list, from 0 */
	NM_FIGURE_PLACE,   /* the same, from 1 */
	NM_FIGURE_NUMBER,  /* uint32_t, counted from 0, and for readers from 1 */
	NM_FIGURE_STRING,  /* char[], always known */
	NM_FIGURE_LATENCY, /* struct nm_latency: null in JSON, and no keys, when it has no values */
	NM_FIGURE_RATIOS,  /* the same of ratios instead of seconds */
	NM_FIGURE_FAILING, /* struct nm_failing *[NM_TIME__SIZED]; all NULL: none */
	/* struct nm_answer_count *, its length at `count_offset`: counts by name */
	NM_FIGURE_ANSWERS,
	NM_FIGURE_OBJECT, /* a struct with figures of its own: `object` */
	NM_FIGURE_LIST,	  /* a pointer to an array of `object`, its length at `count_offset` */
	NM_FIGURE_ARRAY,  /* the same where the array is in the struct */
	NM_FIGURE_TEXTS,  /* char **, its length at `count_offset`; in JSON only */
	NM_FIGURE_FIELDS, /* each field of a table that has a name in results; in JSON only */
};

struct nm_object;

/* A member of a struct on which it depends whether a figure is there: it must not be 0, and a
 * double be above it. size 0: nothing depends. */
struct nm_when {
	size_t offset, size;
	bool is_real;
};
#define NM_WHEN(owner, member)                                                                     \
	{                                                                                          \
		offsetof(owner, member), sizeof(((owner *)0)->member),                             \
			_Generic(((owner *)0)->member, double                                      \
				 : true, default                                                   \
				 : false)                                                          \
	}

struct nm_figure {
	const char *json;   /* member; NULL: not in JSON */
	const char *key;    /* of kv, behind a prefix; NULL: none */
	const char *column; /* of csv, behind a prefix; NULL: none */
	enum nm_figure_kind kind;
	size_t offset;
	/* The figure is not in the struct, but behind a pointer in it, whose offset + 1 this is;
	 * where that is NULL it has no values. 0: it is in the struct. */
	size_t behind;
	/* Whether the figure is known, else it is null, has no key, and an empty cell; NULL:
	 * always. */
	struct nm_when known_if;
	bool (*known)(const void *item);
	/* Why it is not to be had, by the whole of the item, NULL: it is; and by itself where it is
	 * not known, the offset of a char[] + 1. Then it is an object that says so. */
	const char *(*lacks)(const struct nm_at *at);
	size_t why;
	/* Whether there is such a member; NULL: always. */
	struct nm_when has_if;
	bool (*has)(const struct nm_at *at);
	bool omits_null; /* there is no such member where it is null */
	json_t *(*make)(const struct nm_at *at);
	/* Makes the struct, of item_size, whose `object` is shown; false: there is none. */
	bool (*fill)(const struct nm_at *at, void *ret);
	double (*rate)(const void *item);
	const struct nm_object *object;
	size_t count_offset, item_size; /* LIST, ARRAY, ANSWERS, TEXTS */
	const struct nm_field *fields;
	/* The name of a definition of the schema, or a schema with ' for "; NULL: that of the
	 * kind. */
	const char *schema;
	const char *doc;   /* a sentence; NULL: the name says it */
	bool is_label;	   /* it tells one item from another: nobody requires or compares it */
	const char *alias; /* what requirements may call it besides its own name; NULL: nothing */
};
/* A figure that is a member of a struct (known if another member is true), one that a function
 * makes (schema as below), and a rate or a share that a function computes. */
#define NM_FIGURE(figure_kind, owner, member, name, ...)                                           \
	{                                                                                          \
		.json = name, .kind = NM_FIGURE_##figure_kind, .offset = offsetof(owner, member),  \
		__VA_ARGS__                                                                        \
	}
#define NM_MADE(name, function, its_schema, ...)                                                   \
	{                                                                                          \
		.json = name, .make = function, .schema = its_schema, __VA_ARGS__                  \
	}
#define NM_FILLED(name, function, type, its_object, ...)                                           \
	{                                                                                          \
		.json = name, .fill = function, .item_size = sizeof(type), .object = &its_object,  \
		__VA_ARGS__                                                                        \
	}
#define NM_ITEMS(figure_kind, owner, member, count, name, its_object, ...)                         \
	NM_FIGURE(figure_kind, owner, member, name, .count_offset = offsetof(owner, count),        \
		  .item_size = sizeof(*((owner *)0)->member), .object = &its_object, __VA_ARGS__)
#define NM_LIST(...)		   NM_ITEMS(LIST, __VA_ARGS__)
#define NM_ARRAY(...)		   NM_ITEMS(ARRAY, __VA_ARGS__)
#define NM_KNOWN_BY(owner, member) .known_if = NM_WHEN(owner, member)
#define NM_HAS(owner, member)	   .has_if = NM_WHEN(owner, member)
#define NM_RATE(name, function, ...)                                                               \
	{                                                                                          \
		.json = name, .kind = NM_FIGURE_RATE, .rate = function, __VA_ARGS__                \
	}
#define NM_SHARE(name, function, ...)                                                              \
	{                                                                                          \
		.json = name, .kind = NM_FIGURE_SHARE, .rate = function, __VA_ARGS__               \
	}
#define NM_FIGURE_END                                                                              \
	{                                                                                          \
		.kind = NM_FIGURE_MADE                                                             \
	}
static inline bool nm_figure_is_end(const struct nm_figure *figure)
{
	return !figure->json && !figure->key && !figure->column && !figure->fields;
}

/* The figures of an object that are those of a table of fields, of a struct at an offset. */
#define NM_FIELDS_FIGURE(table, at)                                                                \
	{                                                                                          \
		.kind = NM_FIGURE_FIELDS, .fields = table, .offset = at                            \
	}
#define NM_ALL_FIELDS(table, at)                                                                   \
	(const struct nm_figure[])                                                                 \
	{                                                                                          \
		NM_FIELDS_FIGURE(table, at), NM_FIGURE_END                                         \
	}

/* Whether there may be no such member. */
static inline bool nm_figure_is_optional(const struct nm_figure *figure)
{
	return figure->has || figure->has_if.size || figure->omits_null;
}

/* How the schema treats members that an object does not list. */
enum nm_closing { NM_CLOSED, NM_CLOSED_ALL, NM_OPEN };

/* A struct that is an object of the document. */
struct nm_object {
	const char *name; /* of its definition; NULL: it stands where it is used */
	const char *doc;
	const struct nm_figure *figures;
	const struct nm_object *base; /* its members are here, too; NULL: none */
	size_t base_offset;	      /* of the base's struct within this one */
	/* The whole definition, or an addition to it, written as a figure's schema; NULL: none. */
	const char *raw, *more;
	/* For a table of fields: how many of its figures older versions had already. 0: all. */
	size_t n_required_fields;
	enum nm_closing closing;
	bool or_null, is_list; /* its schema is that of null or an object, of a list of objects */
};

/* --- JSON --- */

/* The object of an item with all its figures, owned; NULL when out of memory. */
json_t *nm_object_json(const struct nm_object *object, const struct nm_at *at);
/* A list of `count` items from `first` on. */
json_t *nm_objects_json(const struct nm_object *object, const struct nm_at *at, const void *first,
			size_t count, size_t item_size);
/* The place of an item within the place of the struct around it. */
struct nm_at nm_at_item(const struct nm_at *parent, const void *item, size_t index);
/* null for NULL; bytes that are not UTF-8 become question marks, so a document is always valid. */
json_t *nm_json_text(const char *text);
/* null for "" and NULL: not known. */
json_t *nm_json_known(const char *text);
json_t *nm_json_real(double value);    /* null unless finite */
json_t *nm_json_count(uint64_t value); /* at most 2^63 - 1 */
/* Puts all members of `from` (taken) into `into`, which is returned; NULL if either is NULL. */
json_t *nm_json_join(json_t *into, json_t *from);

/* The percentiles with failures of the distribution that has the most; NULL: there are none. */
const struct nm_failing *nm_failing_most(struct nm_failing *const failing[NM_TIME__SIZED]);

/* --- kv and csv --- */

/* A line PREFIXkey=value for each figure that has a key and is known. */
void nm_figures_keys(FILE *out, const char *prefix, const struct nm_figure *figures,
		     const void *item, const struct nm_percentiles *percentiles);
/* ",PREFIXcolumn" for each figure that has one; and ",value", empty when it is not known. without:
 * columns that are left out, the last NULL; or NULL: none is. */
void nm_figures_columns(FILE *out, const char *prefix, const struct nm_figure *figures,
			const struct nm_percentiles *percentiles, const char *const *without);
void nm_figures_cells(FILE *out, const struct nm_figure *figures, const void *item,
		      const struct nm_percentiles *percentiles, const char *const *without);
/* A cell with a text, and a column behind it ("_column"; NULL: none), without control
 * characters. */
void nm_csv_cell(FILE *out, const char *text, const char *column);

/* --- the schema (schema.c) --- */

/* JSON Schema of the document, owned; NULL when out of memory. */
json_t *nm_result_schema(void);

#endif
