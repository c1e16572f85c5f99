/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the list of named figures by walking the tables of figures, and prints it. */
#include "report/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/figures.h"
#include "report/report.h"

static const struct {
	const char *name, *prefix;
} scopes[NM_SCOPE__COUNT] = {
	[NM_SCOPE_RUN] = {"run", ""},
	[NM_SCOPE_GROUP] = {"group", "group.NAME."},
	[NM_SCOPE_TRANSACTION] = {"transaction", "group.NAME.transaction.NAME."},
	[NM_SCOPE_VERB] = {"verb", "verb.NAME."},
	[NM_SCOPE_HOST] = {"host", "host.NAME."},
};

const char *nm_scope_prefix(enum nm_scope scope)
{
	return scopes[scope].prefix;
}

const char *nm_scope_name(enum nm_scope scope)
{
	return scopes[scope].name;
}

/* --- the walk --- */

struct walk {
	struct nm_named_list *list;
	enum nm_scope scope;
	char name[NM_NAMED_NAME], member[NM_NAMED_MEMBER], key[NM_NAMED_NAME]; /* prefixes */
	bool has_key;
	bool failed;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Names carry their unit, see the document. */
static enum nm_quantity quantity_of(const char *member, enum nm_quantity otherwise)
{
	if (ends_with(member, "_per_s"))
		return strstr(member, "bits_") ? NM_QUANTITY_BITRATE : NM_QUANTITY_RATE;
	if (ends_with(member, "_s") || strcmp(member, "seconds") == 0)
		return NM_QUANTITY_SECONDS;
	if (strncmp(member, "bytes_", 6) == 0 || ends_with(member, "_bytes"))
		return NM_QUANTITY_BYTES;
	return otherwise;
}

/* Three texts as one, cut where there is no room. */
static void join(char *buf, size_t size, const char *a, const char *b, const char *c)
{
	if (snprintf(buf, size, "%s%s%s", a, b, c) >= (int)size)
		buf[size - 1] = '\0';
}

/* A member without the _s of seconds. */
static void add_name(char *name, size_t size, const char *prefix, const char *member,
		     const char *behind)
{
	char plain[NM_NAMED_NAME];
	size_t length;

	join(plain, sizeof(plain), member, "", "");
	length = strlen(plain);
	if (ends_with(plain, "_s") && !ends_with(plain, "_per_s"))
		plain[length - 2] = '\0';
	join(name, size, prefix, plain, behind);
}

static struct nm_named *add(struct walk *walk, const char *member, const char *key,
			    enum nm_quantity quantity, const char *doc)
{
	struct nm_named *items =
		realloc(walk->list->items, (walk->list->count + 1) * sizeof(*items));

	if (!items) {
		walk->failed = true;
		return NULL;
	}
	walk->list->items = items;
	struct nm_named *named = &items[walk->list->count++];

	*named = (struct nm_named){.scope = walk->scope, .quantity = quantity, .doc = doc};
	add_name(named->name, sizeof(named->name), walk->name, member, "");
	join(named->member, sizeof(named->member), walk->member, member, "");
	if (key && walk->has_key)
		join(named->key, sizeof(named->key), walk->key, key, "");
	return named;
}

static struct walk inside(const struct walk *walk, const char *member, const char *key)
{
	struct walk inner = *walk;

	add_name(inner.name, sizeof(inner.name), walk->name, member, ".");
	join(inner.member, sizeof(inner.member), walk->member, member, ".");
	join(inner.key, sizeof(inner.key), walk->key, key ? key : "", "_");
	inner.has_key = walk->has_key && key;
	return inner;
}

static void add_latency(struct walk *walk, const struct nm_figure *figure)
{
	static const char *const names[] = {"min", "mean", "max", "stddev"};
	const enum nm_quantity quantity =
		figure->kind == NM_FIGURE_RATIOS ? NM_QUANTITY_NUMBER : NM_QUANTITY_SECONDS;
	struct walk inner = inside(walk, figure->json, figure->key);
	struct nm_named *named;

	(void)add(&inner, "count", NULL, NM_QUANTITY_COUNT, figure->doc);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)add(&inner, names[i], names[i], quantity, figure->doc);
	named = add(&inner, "pN", "pN", quantity, figure->doc);
	if (named)
		named->percentiles = true;
	walk->failed |= inner.failed;
}

static void add_fields(struct walk *walk, const struct nm_figure *figure)
{
	for (const struct nm_field *field = figure->fields; field->name; field++) {
		bool number = field->type == NM_FIELD_U64 || field->type == NM_FIELD_U32 ||
			      field->type == NM_FIELD_I64 || field->type == NM_FIELD_REAL;

		if (!field->figure || !number || field->unit == NM_UNIT_FACT)
			continue;
		(void)add(walk, field->figure, NULL,
			  field->unit == NM_UNIT_PART ? NM_QUANTITY_SHARE
			  : field->unit == NM_UNIT_NS
				  ? NM_QUANTITY_SECONDS
				  : quantity_of(field->figure, NM_QUANTITY_COUNT),
			  field->doc);
	}
}

/* A figure under its name, and under its alias. */
static void add_value(struct walk *walk, const struct nm_figure *figure, enum nm_quantity quantity)
{
	struct nm_named *named;

	if (figure->alias) {
		named = add(walk, figure->json, figure->key, quantity, figure->doc);
		if (named) {
			named->is_alias = true;
			join(named->name, sizeof(named->name), figure->alias, "", "");
		}
	}
	(void)add(walk, figure->json, figure->key, quantity, figure->doc);
}

/* One that a function makes: its schema tells whether it is a number. */
static void add_made(struct walk *walk, const struct nm_figure *figure)
{
	const char *schema = figure->schema ? figure->schema : "";

	if (strcmp(schema, "count") == 0 || strcmp(schema, "known_count") == 0)
		add_value(walk, figure, NM_QUANTITY_COUNT);
	else if (strcmp(schema, "seconds") == 0 || strcmp(schema, NM_SCHEMA_REAL_OR_NULL) == 0)
		add_value(walk, figure, quantity_of(figure->json, NM_QUANTITY_NUMBER));
}

static void walk_object(struct walk *walk, const struct nm_object *object);

static void add_figure(struct walk *walk, const struct nm_figure *figure)
{
	enum nm_quantity quantity = NM_QUANTITY_NUMBER;

	switch (figure->kind) {
	case NM_FIGURE_MADE:
	case NM_FIGURE_FAILING:
	case NM_FIGURE_OBJECT:
		if (figure->object && !figure->object->is_list) {
			struct walk inner = inside(walk, figure->json, figure->key);

			walk_object(&inner, figure->object);
			walk->failed |= inner.failed;
		} else if (figure->kind == NM_FIGURE_MADE) {
			add_made(walk, figure);
		}
		return;
	case NM_FIGURE_LATENCY:
	case NM_FIGURE_RATIOS:
		add_latency(walk, figure);
		return;
	case NM_FIGURE_COUNT:
	case NM_FIGURE_COUNT32:
	case NM_FIGURE_SIGNED:
		quantity = NM_QUANTITY_COUNT;
		break;
	case NM_FIGURE_SHARE:
		quantity = NM_QUANTITY_SHARE;
		break;
	case NM_FIGURE_REAL:
		quantity = figure->schema ? NM_QUANTITY_NUMBER : NM_QUANTITY_SECONDS;
		break;
	case NM_FIGURE_RATE:
		break;
	default:
		return;
	}
	add_value(walk, figure, quantity_of(figure->json, quantity));
}

static void walk_object(struct walk *walk, const struct nm_object *object)
{
	if (object->base)
		walk_object(walk, object->base);
	for (const struct nm_figure *figure = object->figures; !nm_figure_is_end(figure);
	     figure++) {
		if (figure->kind == NM_FIGURE_FIELDS)
			add_fields(walk, figure);
		else if (figure->json && !figure->is_label)
			add_figure(walk, figure);
	}
}

int nm_named_list(struct nm_named_list *ret_list)
{
	static const struct nm_object *const objects[] = {
		[NM_SCOPE_RUN] = &nm_totals_object,	   [NM_SCOPE_GROUP] = &nm_group_object,
		[NM_SCOPE_TRANSACTION] = &nm_phase_object, [NM_SCOPE_VERB] = &nm_verb_object,
		[NM_SCOPE_HOST] = &nm_host_object,
	};
	bool failed = false;

	*ret_list = (struct nm_named_list){.items = NULL};
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		/* The keys of hosts have other names, and those of transactions none. */
		struct walk walk = {.list = ret_list,
				    .scope = (enum nm_scope)i,
				    .has_key = i == NM_SCOPE_RUN || i == NM_SCOPE_GROUP ||
					       i == NM_SCOPE_VERB};

		walk_object(&walk, objects[i]);
		failed |= walk.failed;
	}
	return failed ? -ENOMEM : 0;
}

void nm_named_fini(struct nm_named_list *list)
{
	free(list->items);
	*list = (struct nm_named_list){.items = NULL};
}

/* --- as it is published --- */

/* Whether the scope has a figure of that name. */
static bool has_name(const struct nm_named_list *list, enum nm_scope scope, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].scope == scope && strcmp(list->items[i].name, name) == 0)
			return true;
	return false;
}

/* Scopes whose figures have rows of their own. */
static bool is_apart(enum nm_scope scope)
{
	return scope == NM_SCOPE_VERB || scope == NM_SCOPE_HOST;
}

/* A row stands for the figure of that name of runs, groups and transactions. */
static void print_row(FILE *out, const struct nm_named_list *list, const struct nm_named *named)
{
	const char *before = "";

	fprintf(out, "| `%s` | %s | ", named->name, nm_quantity_unit(named->quantity));
	for (size_t i = 0; i < NM_SCOPE__COUNT; i++) {
		bool apart = is_apart((enum nm_scope)i) || is_apart(named->scope);

		if ((apart && i != named->scope) || !has_name(list, (enum nm_scope)i, named->name))
			continue;
		fprintf(out, "%s%s", before, scopes[i].name);
		before = ", ";
	}
	fprintf(out, " | `%s` | ", named->member);
	if (*named->key)
		fprintf(out, "`%s`", named->key);
	fprintf(out, " | %s |\n", named->doc ? named->doc : "");
}

int nm_named_write(FILE *out)
{
	struct nm_named_list list;

	if (nm_named_list(&list) != 0) {
		nm_named_fini(&list);
		return -ENOMEM;
	}
	fputs("| figure | unit | of | in JSON | key of kv | meaning |\n|---|---|---|---|---|---|\n",
	      out);
	for (size_t i = 0; i < list.count; i++) {
		const struct nm_named *named = &list.items[i];
		bool told = false;

		for (size_t k = NM_SCOPE_RUN; k < named->scope && !is_apart(named->scope); k++)
			told = told || has_name(&list, (enum nm_scope)k, named->name);
		if (!told)
			print_row(out, &list, named);
	}
	nm_named_fini(&list);
	return nm_stream_status(out);
}
