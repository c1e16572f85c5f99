/* SPDX-License-Identifier: Apache-2.0 */
/* Walks tables of figures: into JSON, into key=value lines, into columns and cells. */
#include "report/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "report/common.h"
#include "report/keys.h"

/* --- JSON --- */

json_t *nm_json_text(const char *text)
{
	if (!text)
		return json_null();
	json_t *string = json_string(text);
	if (string)
		return string;
	char *copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	string = json_string(copy);
	free(copy);
	return string;
}

json_t *nm_json_known(const char *text)
{
	return nm_json_text(text && *text ? text : NULL);
}

json_t *nm_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *nm_json_count(uint64_t value)
{
	/* JSON numbers of most readers and jansson's integers end here. */
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *nm_json_join(json_t *into, json_t *from)
{
	if (!into || !from || json_object_update(into, from) != 0) {
		json_decref(into);
		into = NULL;
	}
	json_decref(from);
	return into;
}

struct nm_at nm_at_item(const struct nm_at *parent, const void *item, size_t index)
{
	return (struct nm_at){.parent = parent,
			      .runs = parent->runs,
			      .result = parent->result,
			      .item = item,
			      .index = index};
}

static json_t *latency_json(const struct nm_latency *latency,
			    const struct nm_percentiles *percentiles)
{
	char key[32];

	if (latency->count == 0)
		return json_null();
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:o, s:o}", "count", nm_json_count(latency->count), "min",
		nm_json_real(latency->min_s), "mean", nm_json_real(latency->mean_s), "max",
		nm_json_real(latency->max_s), "stddev", nm_json_real(latency->stddev_s));
	for (size_t i = 0; object && i < percentiles->count; i++) {
		nm_percentile_name(percentiles->pct[i], key, sizeof(key));
		if (json_object_set_new(object, key, nm_json_real(latency->pct_s[i])) != 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

const struct nm_failing *nm_failing_most(struct nm_failing *const failing[NM_TIME__SIZED])
{
	const struct nm_failing *most = NULL;

	for (unsigned i = 0; i < NM_TIME__SIZED; i++)
		if (failing[i] && (!most || failing[i]->failures > most->failures))
			most = failing[i];
	return most;
}

static json_t *percentiles_json(const struct nm_failing *failing,
				const struct nm_percentiles *percentiles)
{
	json_t *object = json_object();
	char key[32];

	for (size_t i = 0; object && i < percentiles->count; i++)
		(void)json_object_set_new(object,
					  nm_percentile_name(percentiles->pct[i], key, sizeof(key)),
					  nm_json_real(failing->pct_s[i]));
	return object;
}

static json_t *failing_json(struct nm_failing *const failing[NM_TIME__SIZED],
			    const struct nm_percentiles *percentiles)
{
	json_t *object =
		json_pack("{s:o}", "failures", nm_json_count(nm_failing_most(failing)->failures));
	char name[32];

	for (unsigned i = 0; object && i < NM_TIME__SIZED; i++) {
		if (!failing[i])
			continue;
		snprintf(name, sizeof(name), "%s_s", nm_time_names[i]);
		(void)json_object_set_new(object, name, percentiles_json(failing[i], percentiles));
	}
	return object;
}

/* The counts by name of an item, and how many there are. */
static const struct nm_answer_count *answers_of(const struct nm_figure *figure, const void *item,
						size_t *ret_count)
{
	const char *at = item;

	*ret_count = *(const size_t *)(const void *)(at + figure->count_offset);
	return *(const struct nm_answer_count *const *)(const void *)(at + figure->offset);
}

static json_t *answers_json(const struct nm_figure *figure, const void *item)
{
	size_t count;
	const struct nm_answer_count *answers = answers_of(figure, item, &count);
	json_t *object = json_object();

	for (size_t i = 0; object && i < count; i++)
		(void)json_object_set_new(object, answers[i].name, nm_json_count(answers[i].count));
	return object;
}

json_t *nm_objects_json(const struct nm_object *object, const struct nm_at *at, const void *first,
			size_t count, size_t item_size)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < count; i++) {
		struct nm_at item = nm_at_item(at, (const char *)first + i * item_size, i);

		if (json_array_append_new(array, nm_object_json(object, &item)) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *list_json(const struct nm_figure *figure, const struct nm_at *at)
{
	const char *item = at->item;
	const void *member = item + figure->offset;
	const void *first = figure->kind == NM_FIGURE_ARRAY ? member : *(const void *const *)member;
	size_t count = *(const size_t *)(item + figure->count_offset);

	return nm_objects_json(figure->object, at, first, count, figure->item_size);
}

static json_t *texts_json(const struct nm_figure *figure, const char *item)
{
	char *const *texts = *(char *const *const *)(const void *)(item + figure->offset);
	size_t count = *(const size_t *)(const void *)(item + figure->count_offset);
	json_t *array = json_array();

	for (size_t i = 0; array && i < count; i++)
		if (json_array_append_new(array, nm_json_text(texts[i])) != 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *object_json(const struct nm_figure *figure, const struct nm_at *at)
{
	struct nm_at inner = nm_at_item(at, (const char *)at->item + figure->offset, at->index);

	return nm_object_json(figure->object, &inner);
}

static json_t *filled_json(const struct nm_figure *figure, const struct nm_at *at)
{
	void *made = calloc(1, figure->item_size);
	struct nm_at item = nm_at_item(at, made, 0);
	json_t *json = NULL;

	if (made)
		json = figure->fill(at, made) ? nm_object_json(figure->object, &item) : json_null();
	free(made);
	return json;
}

static bool is_so(const struct nm_when *when, const void *item)
{
	const char *member = (const char *)item + when->offset;
	size_t i = 0;

	if (when->is_real)
		return *(const double *)(const void *)member > 0;
	while (i < when->size && !member[i])
		i++;
	return i < when->size || when->size == 0;
}

static bool is_known(const struct nm_figure *figure, const void *item)
{
	return is_so(&figure->known_if, item) && (!figure->known || figure->known(item));
}

/* {"unavailable": why}; null where there is never a reason. why: by the whole of the item, or
 * NULL. */
static json_t *unavailable(const struct nm_figure *figure, const struct nm_at *at, const char *why)
{
	if (!why && !figure->why)
		return json_null();
	why = why ? why : (const char *)at->item + figure->why - 1;
	return json_pack("{s:o}", "unavailable", nm_json_text(*why ? why : "it was not collected"));
}

static double rate_of(const struct nm_figure *figure, const void *item, const void *value)
{
	return figure->rate ? figure->rate(item) : *(const double *)value;
}

static const void *value_of(const struct nm_figure *figure, const void *item)
{
	static const struct nm_latency none = {.count = 0};
	const char *base = item;

	if (figure->behind)
		base = *(const char *const *)(const void *)(base + figure->behind - 1);
	return base ? base + figure->offset : (const void *)&none;
}

static json_t *number_json(enum nm_figure_kind kind, const void *value)
{
	switch (kind) {
	case NM_FIGURE_COUNT:
		return nm_json_count(*(const uint64_t *)value);
	case NM_FIGURE_COUNT32:
		return nm_json_count(*(const uint32_t *)value);
	case NM_FIGURE_SIZE:
		return nm_json_count(*(const size_t *)value);
	case NM_FIGURE_SIGNED:
		return json_integer(*(const int64_t *)value);
	case NM_FIGURE_BOOL:
		return json_boolean(*(const bool *)value);
	case NM_FIGURE_NUMBER:
		return nm_json_count(*(const uint32_t *)value + UINT64_C(1));
	case NM_FIGURE_REAL:
		return nm_json_real(*(const double *)value);
	default:
		return NULL; /* no figure of one value */
	}
}

static json_t *figure_json(const struct nm_figure *figure, const struct nm_at *at)
{
	const void *value = value_of(figure, at->item);
	const char *lacks = figure->lacks ? figure->lacks(at) : NULL;

	if (lacks || !is_known(figure, at->item))
		return unavailable(figure, at, lacks);
	switch (figure->kind) {
	case NM_FIGURE_RATE:
	case NM_FIGURE_SHARE:
		return nm_json_real(rate_of(figure, at->item, value));
	case NM_FIGURE_TEXT:
		return nm_json_text(*(const char *const *)value);
	case NM_FIGURE_NAME:
		return nm_json_known(*(const char *const *)value);
	case NM_FIGURE_INDEX:
		return nm_json_count(at->index);
	case NM_FIGURE_PLACE:
		return nm_json_count((uint64_t)at->index + 1);
	case NM_FIGURE_CHARS:
		return nm_json_known(value);
	case NM_FIGURE_STRING:
		return nm_json_text(value);
	case NM_FIGURE_LATENCY:
	case NM_FIGURE_RATIOS:
		return latency_json(value, &at->result->percentiles);
	case NM_FIGURE_FAILING:
		return failing_json(value, &at->result->percentiles);
	case NM_FIGURE_ANSWERS:
		return answers_json(figure, at->item);
	case NM_FIGURE_OBJECT:
		return object_json(figure, at);
	case NM_FIGURE_LIST:
	case NM_FIGURE_ARRAY:
		return list_json(figure, at);
	case NM_FIGURE_TEXTS:
		return texts_json(figure, at->item);
	case NM_FIGURE_MADE:
		return figure->fill ? filled_json(figure, at) : figure->make(at);
	default:
		return number_json(figure->kind, value);
	}
}

/* A host's 0, -1 and "" are "not known" where they are no counts. */
static json_t *field_json(const struct nm_field *field, const void *from)
{
	const void *at = (const char *)from + field->offset;

	switch (field->type) {
	case NM_FIELD_CHARS:
		return nm_json_known(at);
	case NM_FIELD_U32:
		return *(const uint32_t *)at ? nm_json_count(*(const uint32_t *)at) : json_null();
	case NM_FIELD_I64:
		return *(const int64_t *)at < 0 ? json_null()
		       : field->unit == NM_UNIT_NS
			       ? nm_json_real((double)*(const int64_t *)at / 1e9)
			       : json_integer(*(const int64_t *)at);
	case NM_FIELD_REAL:
		return nm_json_real(*(const double *)at);
	default:
		break;
	}
	if (field->unit == NM_UNIT_PART)
		return nm_json_real(nm_cpu_share(from, *(const uint64_t *)at));
	if (field->unit == NM_UNIT_NS)
		return nm_json_real((double)*(const uint64_t *)at / 1e9);
	if (field->unit == NM_UNIT_FACT && *(const uint64_t *)at == 0)
		return json_null();
	return nm_json_count(*(const uint64_t *)at);
}

static int add_fields(json_t *into, const struct nm_figure *figure, const void *item)
{
	int error = 0;

	for (const struct nm_field *field = figure->fields; field->name; field++)
		if (field->figure)
			error |= json_object_set_new(
				into, field->figure,
				field_json(field, (const char *)item + figure->offset));
	return error;
}

static int add_figures(json_t *into, const struct nm_object *object, const struct nm_at *at)
{
	int error = 0;

	if (object->base) {
		struct nm_at base = *at;

		base.item = (const char *)at->item + object->base_offset;
		error = add_figures(into, object->base, &base);
	}
	for (const struct nm_figure *figure = object->figures; !nm_figure_is_end(figure);
	     figure++) {
		if ((!figure->json && !figure->fields) || !is_so(&figure->has_if, at->item) ||
		    (figure->has && !figure->has(at)))
			continue;
		if (figure->kind == NM_FIGURE_FIELDS) {
			error |= add_fields(into, figure, at->item);
			continue;
		}
		json_t *value = figure_json(figure, at);

		if (!figure->omits_null || !json_is_null(value))
			error |= json_object_set_new(into, figure->json, value);
	}
	return error;
}

json_t *nm_object_json(const struct nm_object *object, const struct nm_at *at)
{
	json_t *json = json_object();

	if (json && add_figures(json, object, at) != 0) {
		json_decref(json);
		json = NULL;
	}
	return json;
}

/* --- kv and csv --- */

static bool is_latency(const struct nm_figure *figure)
{
	return figure->kind == NM_FIGURE_LATENCY || figure->kind == NM_FIGURE_RATIOS;
}

static void print_latency_columns(FILE *out, const char *prefix, const struct nm_figure *figure,
				  const struct nm_percentiles *percentiles)
{
	static const char *const names[] = {"min", "mean", "max", "stddev"};
	const char *unit = figure->kind == NM_FIGURE_LATENCY ? "_s" : "";
	char key[32];

	fprintf(out, ",%s%s_count", prefix, figure->column);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fprintf(out, ",%s%s_%s%s", prefix, figure->column, names[i], unit);
	for (size_t i = 0; i < percentiles->count; i++)
		fprintf(out, ",%s%s_%s%s", prefix, figure->column,
			nm_percentile_name(percentiles->pct[i], key, sizeof(key)), unit);
}

static void print_latency_cells(FILE *out, const struct nm_latency *latency,
				const struct nm_percentiles *percentiles)
{
	if (latency->count == 0) {
		fputs(",0,,,,", out);
		for (size_t i = 0; i < percentiles->count; i++)
			fputc(',', out);
		return;
	}
	fprintf(out, ",%" PRIu64 ",%.9f,%.9f,%.9f,%.9f", latency->count, latency->min_s,
		latency->mean_s, latency->max_s, latency->stddev_s);
	for (size_t i = 0; i < percentiles->count; i++)
		fprintf(out, ",%.9f", latency->pct_s[i]);
}

/* Infinite ones are "inf". */
static void print_failing_keys(FILE *out, const char *prefix,
			       struct nm_failing *const failing[NM_TIME__SIZED],
			       const struct nm_percentiles *percentiles)
{
	const struct nm_failing *most = nm_failing_most(failing);
	char key[32];

	if (most)
		fprintf(out, "%s_failures=%" PRIu64 "\n", prefix, most->failures);
	for (unsigned t = 0; t < NM_TIME__SIZED; t++)
		for (size_t i = 0; failing[t] && i < percentiles->count; i++)
			fprintf(out, "%s_%s_%s=%.9f\n", prefix, nm_time_names[t],
				nm_percentile_key(percentiles->pct[i], key, sizeof(key)),
				failing[t]->pct_s[i]);
}

static bool is_left_out(const char *column, const char *const *without)
{
	for (; without && *without; without++)
		if (strcmp(column, *without) == 0)
			return true;
	return false;
}

static void print_failing_columns(FILE *out, const char *prefix, const char *column,
				  const struct nm_percentiles *percentiles,
				  const char *const *without)
{
	char key[32];

	fprintf(out, ",%s%s_failures", prefix, column);
	for (unsigned t = 0; t < NM_TIME__SIZED; t++)
		for (size_t i = 0; nm_time_may_fail(t) && !is_left_out(nm_time_names[t], without) &&
				   i < percentiles->count;
		     i++)
			fprintf(out, ",%s%s_%s_%s_s", prefix, column, nm_time_names[t],
				nm_percentile_name(percentiles->pct[i], key, sizeof(key)));
}

static void print_failing_cells(FILE *out, struct nm_failing *const failing[NM_TIME__SIZED],
				const struct nm_percentiles *percentiles,
				const char *const *without)
{
	const struct nm_failing *most = nm_failing_most(failing);

	fprintf(out, ",%" PRIu64, most ? most->failures : 0);
	for (unsigned t = 0; t < NM_TIME__SIZED; t++) {
		if (!nm_time_may_fail(t) || is_left_out(nm_time_names[t], without))
			continue;
		for (size_t i = 0; i < percentiles->count; i++)
			if (failing[t])
				fprintf(out, ",%.9f", failing[t]->pct_s[i]);
			else
				fputc(',', out);
	}
}

static void print_answers_keys(FILE *out, const char *prefix, const struct nm_figure *figure,
			       const void *item)
{
	size_t count;
	const struct nm_answer_count *answers = answers_of(figure, item, &count);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s_%s=%" PRIu64 "\n", prefix, figure->key, answers[i].name,
			answers[i].count);
}

/* One cell for all of them, as no two results need have the same names. */
static void print_answers_cell(FILE *out, const struct nm_figure *figure, const void *item)
{
	size_t count;
	const struct nm_answer_count *answers = answers_of(figure, item, &count);

	fputc(',', out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s:%" PRIu64, i ? " " : "", answers[i].name, answers[i].count);
}

/* A value as text; "" when it is not known. A rate has as many decimals as its output always
 * had. */
static void format(const struct nm_figure *figure, const void *item, int rate_decimals, char *text,
		   size_t size)
{
	const void *value = (const char *)item + figure->offset;
	double real;

	*text = '\0';
	if (!is_known(figure, item))
		return;
	switch (figure->kind) {
	case NM_FIGURE_COUNT:
		snprintf(text, size, "%" PRIu64, *(const uint64_t *)value);
		break;
	case NM_FIGURE_COUNT32:
		snprintf(text, size, "%" PRIu32, *(const uint32_t *)value);
		break;
	case NM_FIGURE_BOOL: /* false: the key is not there */
		snprintf(text, size, "%s", *(const bool *)value ? "1" : "");
		break;
	case NM_FIGURE_SIGNED:
		snprintf(text, size, "%" PRId64, *(const int64_t *)value);
		break;
	case NM_FIGURE_REAL:
	case NM_FIGURE_RATE:
	case NM_FIGURE_SHARE:
		real = rate_of(figure, item, value);
		if (isfinite(real))
			snprintf(text, size, "%.*f",
				 figure->kind == NM_FIGURE_REAL	   ? 9
				 : figure->kind == NM_FIGURE_SHARE ? 4
								   : rate_decimals,
				 real);
		break;
	default:
		break;
	}
}

void nm_figures_keys(FILE *out, const char *prefix, const struct nm_figure *figures,
		     const void *item, const struct nm_percentiles *percentiles)
{
	char text[512];

	for (; !nm_figure_is_end(figures); figures++) {
		const void *value = value_of(figures, item);

		if (!figures->key)
			continue;
		if (figures->kind == NM_FIGURE_OBJECT) {
			if (!is_known(figures, item))
				continue;
			snprintf(text, sizeof(text), "%s%s_", prefix, figures->key);
			nm_figures_keys(out, text, figures->object->figures, value, percentiles);
			continue;
		}
		if (is_latency(figures)) {
			snprintf(text, sizeof(text), "%s%s", prefix, figures->key);
			nm_keys_latency(out, text, value, percentiles);
			continue;
		}
		if (figures->kind == NM_FIGURE_FAILING) {
			snprintf(text, sizeof(text), "%s%s", prefix, figures->key);
			print_failing_keys(out, text, value, percentiles);
			continue;
		}
		if (figures->kind == NM_FIGURE_ANSWERS)
			print_answers_keys(out, prefix, figures, item);
		format(figures, item, 2, text, sizeof(text));
		if (*text)
			fprintf(out, "%s%s=%s\n", prefix, figures->key, text);
	}
}

static bool is_column(const struct nm_figure *figure, const char *const *without)
{
	return figure->column && !is_left_out(figure->column, without);
}

void nm_figures_columns(FILE *out, const char *prefix, const struct nm_figure *figures,
			const struct nm_percentiles *percentiles, const char *const *without)
{
	char inner[512];

	for (; !nm_figure_is_end(figures); figures++) {
		if (!is_column(figures, without))
			continue;
		if (is_latency(figures)) {
			print_latency_columns(out, prefix, figures, percentiles);
		} else if (figures->kind == NM_FIGURE_FAILING) {
			print_failing_columns(out, prefix, figures->column, percentiles, without);
		} else if (figures->kind == NM_FIGURE_OBJECT) {
			snprintf(inner, sizeof(inner), "%s%s_", prefix, figures->column);
			nm_figures_columns(out, inner, figures->object->figures, percentiles, NULL);
		} else {
			fprintf(out, ",%s%s", prefix, figures->column);
		}
	}
}

void nm_figures_cells(FILE *out, const struct nm_figure *figures, const void *item,
		      const struct nm_percentiles *percentiles, const char *const *without)
{
	char text[64];

	for (; !nm_figure_is_end(figures); figures++) {
		if (!is_column(figures, without))
			continue;
		if (is_latency(figures)) {
			print_latency_cells(out, value_of(figures, item), percentiles);
			continue;
		}
		if (figures->kind == NM_FIGURE_FAILING) {
			print_failing_cells(out, value_of(figures, item), percentiles, without);
			continue;
		}
		if (figures->kind == NM_FIGURE_OBJECT) {
			nm_figures_cells(out, figures->object->figures, value_of(figures, item),
					 percentiles, NULL);
			continue;
		}
		if (figures->kind == NM_FIGURE_ANSWERS) {
			print_answers_cell(out, figures, item);
			continue;
		}
		format(figures, item, 3, text, sizeof(text));
		fprintf(out, ",%s", text);
	}
}

/* RFC 4180: quotes only where they are needed. */
void nm_csv_cell(FILE *out, const char *text, const char *column)
{
	bool quoted = strpbrk(text, ",\"") != NULL;

	fputs(quoted ? "\"" : "", out);
	while (*text) {
		size_t control = nm_control_length(text);

		if (*text == '"')
			fputc('"', out);
		if (control)
			fprintf(out, "%*s", (int)control, "");
		else
			fputc(*text, out);
		text += control ? control : 1;
	}
	fprintf(out, "%s%s%s", column ? "_" : "", column ? column : "", quoted ? "\"" : "");
}
