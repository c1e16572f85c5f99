/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of the result document, made from the tables of figures:
 * docs/netmodel-result.schema.json. */
#include <errno.h>
#include <string.h>

#include "report/common.h"
#include "report/figures.h"
#include "report/report.h"

/* How long a line of the schema may be before its value is broken into several. */
#define COLUMNS 118

/* The schemas that others refer to by name, in the order in which they are published. */
static const struct nm_object simple[] = {
	{.name = "count", .raw = "{'type': 'integer', 'minimum': 0}"},
	{.name = "known_count",
	 .raw = "{'type': ['integer', 'null'], 'minimum': 0, 'description': 'null: not known.'}"},
	{.name = "seconds", .raw = "{'type': 'number', 'minimum': 0}"},
	{.name = "rate",
	 .raw = "{'type': ['number', 'null'], 'minimum': 0, 'description': 'null: over no time.'}"},
	{.name = "share", .raw = "{'type': 'number', 'minimum': 0, 'maximum': 1}"},
	{.name = "known_text",
	 .raw = "{'type': ['string', 'null'], 'description': 'null: not known.'}"},
	{.name = "unavailable",
	 .raw = "{'type': 'object', 'required': ['unavailable'], 'additionalProperties': false, "
		"'properties': {'unavailable': {'type': 'string', 'minLength': 1, 'description': "
		"'Why there is no value.'}}}"},
};

static const struct nm_object *const definitions[] = {
	&nm_server_object,	  &nm_profile_object,	    &nm_run_object,
	&nm_outcomes_object,	  &nm_latency_object,	    &nm_ratios_object,
	&nm_window_object,	  &nm_direction_object,	    &nm_datagrams_object,
	&nm_load_object,	  &nm_idle_size_object,	    &nm_replay_object,
	&nm_verb_object,	  &nm_with_failures_object, &nm_ways_object,
	&nm_totals_object,	  &nm_phase_object,	    &nm_operations_object,
	&nm_flowops_object,	  &nm_strands_object,	    &nm_host_phase_object,
	&nm_counters_object,	  &nm_group_object,	    &nm_interval_object,
	&nm_group_row_object,	  &nm_counts_object,	    &nm_cpu_object,
	&nm_unhalted_object,	  &nm_cpufreq_object,	    &nm_cpu_load_object,
	&nm_interrupts_object,	  &nm_softirqs_object,	    &nm_softnet_object,
	&nm_pressure_object,	  &nm_rusage_object,	    &nm_throttling_object,
	&nm_buffers_object,	  &nm_nic_object,	    &nm_psp_object,
	&nm_tcp_object,		  &nm_connections_object,   &nm_tls_object,
	&nm_host_interval_object, &nm_facts_object,	    &nm_host_object,
	&nm_summary_object,	  &nm_repeat_object,	    &nm_sum_object,
	&nm_requirement_object,	  &nm_comparison_object,    &nm_trial_object,
	&nm_sweep_object,	  &nm_vector_object,	    &nm_costs_object,
	&nm_step_object,
};

/* A schema as it stands in the tables, with ' for ". */
static json_t *parse(const char *text)
{
	char json[2048];
	size_t length = strlen(text);

	if (length >= sizeof(json))
		return NULL;
	for (size_t i = 0; i <= length; i++)
		json[i] = text[i] == '\'' ? '"' : text[i];
	return json_loads(json, 0, NULL);
}

static json_t *reference(const char *name)
{
	return json_pack("{s:s+}", "$ref", "#/$defs/", name);
}

static json_t *object_schema(const struct nm_object *object);

/* A named one stands among the definitions. */
static json_t *use_of(const struct nm_object *object)
{
	return object->name ? reference(object->name) : object_schema(object);
}

static const char *kind_schema(enum nm_figure_kind kind)
{
	switch (kind) {
	case NM_FIGURE_COUNT:
	case NM_FIGURE_COUNT32:
	case NM_FIGURE_SIZE:
	case NM_FIGURE_INDEX:
	case NM_FIGURE_PLACE:
	case NM_FIGURE_NUMBER:
		return "count";
	case NM_FIGURE_SIGNED:
		return "{'type': 'integer'}";
	case NM_FIGURE_BOOL:
		return "{'type': 'boolean'}";
	case NM_FIGURE_REAL:
		return "seconds";
	case NM_FIGURE_RATE:
		return "rate";
	case NM_FIGURE_SHARE:
		return "share";
	case NM_FIGURE_TEXT:
		return NM_SCHEMA_ANY_TEXT;
	case NM_FIGURE_CHARS:
	case NM_FIGURE_NAME:
		return "known_text";
	case NM_FIGURE_STRING:
		return NM_SCHEMA_TEXT;
	case NM_FIGURE_LATENCY:
		return "latency";
	case NM_FIGURE_RATIOS:
		return "ratios";
	case NM_FIGURE_TEXTS:
		return "{'type': 'array', 'items': {'type': 'string'}}";
	default:
		return "{}";
	}
}

static json_t *schema_of(const char *text, const char *doc)
{
	json_t *schema = *text == '{' ? parse(text) : reference(text);

	if (schema && doc && json_object_set_new(schema, "description", json_string(doc)) != 0) {
		json_decref(schema);
		schema = NULL;
	}
	return schema;
}

static json_t *figure_schema(const struct nm_figure *figure)
{
	json_t *schema;

	if (figure->schema || !figure->object)
		return schema_of(figure->schema ? figure->schema : kind_schema(figure->kind),
				 figure->doc);
	if (figure->kind == NM_FIGURE_LIST || figure->kind == NM_FIGURE_ARRAY)
		schema = json_pack("{s:s, s:o}", "type", "array", "items", use_of(figure->object));
	else
		schema = use_of(figure->object);
	if (figure->doc && schema)
		(void)json_object_set_new(schema, "description", json_string(figure->doc));
	return schema;
}

static const char *field_schema(const struct nm_field *field)
{
	if (field->type == NM_FIELD_CHARS)
		return "known_text";
	if (field->type == NM_FIELD_I64 && field->unit == NM_UNIT_NS)
		return NM_SCHEMA_REAL_OR_NULL;
	if (field->type == NM_FIELD_I64)
		return "{'type': ['integer', 'null'], 'minimum': 0}";
	if (field->type == NM_FIELD_U32 || field->unit == NM_UNIT_FACT)
		return "{'type': ['integer', 'null'], 'minimum': 1}";
	return field->unit == NM_UNIT_NS     ? "seconds"
	       : field->unit == NM_UNIT_PART ? "share"
					     : "count";
}

static int add_fields(const struct nm_object *object, const struct nm_field *fields,
		      json_t *properties, json_t *required)
{
	size_t number = 0;
	int error = 0;

	for (; fields->name; fields++) {
		if (!fields->figure)
			continue;
		error |= json_object_set_new(properties, fields->figure,
					     schema_of(field_schema(fields), fields->doc));
		if (!object->n_required_fields || number++ < object->n_required_fields)
			error |= json_array_append_new(required, json_string(fields->figure));
	}
	return error;
}

static int add_figures(const struct nm_object *object, json_t *properties, json_t *required)
{
	int error = 0;

	for (const struct nm_figure *figure = object->figures; !nm_figure_is_end(figure);
	     figure++) {
		if (figure->kind == NM_FIGURE_FIELDS) {
			error |= add_fields(object, figure->fields, properties, required);
			continue;
		}
		if (!figure->json)
			continue;
		error |= json_object_set_new(properties, figure->json, figure_schema(figure));
		if (!nm_figure_is_optional(figure))
			error |= json_array_append_new(required, json_string(figure->json));
	}
	return error;
}

static json_t *closed_object(const struct nm_object *object)
{
	json_t *schema = object->base ? reference(object->base->name) : json_object();
	json_t *properties = json_object(), *required = json_array();
	int error = !schema || !properties || !required;

	if (!error)
		error = add_figures(object, properties, required);
	error |= json_object_set_new(schema, "type", json_string("object"));
	if (json_array_size(required))
		error |= json_object_set(schema, "required", required);
	error |= json_object_set(schema, "properties", properties);
	if (object->closing != NM_OPEN)
		error |= json_object_set_new(schema,
					     object->closing == NM_CLOSED ? "additionalProperties"
									  : "unevaluatedProperties",
					     json_false());
	json_decref(properties);
	json_decref(required);
	if (!error)
		return schema;
	json_decref(schema);
	return NULL;
}

static json_t *object_schema(const struct nm_object *object)
{
	json_t *schema = object->raw ? parse(object->raw) : closed_object(object);

	if (object->is_list)
		schema = json_pack("{s:s, s:o}", "type", "array", "items", schema);
	if (object->or_null)
		schema = json_pack("{s:[{s:s}, o]}", "anyOf", "type", "null", schema);
	if (schema && object->doc)
		(void)json_object_set_new(schema, "description", json_string(object->doc));
	return schema;
}

json_t *nm_result_schema(void)
{
	json_t *schema = json_pack(
		"{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "$id",
		"urn:netmodel:schema:netmodel.result:1", "title", "netmodel result");
	json_t *defs = json_object();
	int error = 0;

	for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
		error |= json_object_set_new(defs, simple[i].name, object_schema(&simple[i]));
	for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
		error |= json_object_set_new(defs, definitions[i]->name,
					     object_schema(definitions[i]));
	schema = nm_json_join(schema, object_schema(&nm_document_object));
	if (!error && schema && json_object_set(schema, "$defs", defs) == 0) {
		json_decref(defs);
		return schema;
	}
	json_decref(defs);
	json_decref(schema);
	return NULL;
}

/* --- as it is published --- */

static void print_value(FILE *out, const json_t *value, size_t depth, size_t used);

static void print_members(FILE *out, const json_t *value, size_t depth)
{
	const char *before = "\n", *key;
	json_t *member;

	fputs("{", out);
	json_object_foreach((json_t *)value, key, member)
	{
		int length = fprintf(out, "%s%*s\"%s\": ", before, (int)(2 * depth + 2), "", key);

		print_value(out, member, depth + 1, (size_t)length);
		before = ",\n";
	}
	fprintf(out, "\n%*s}", (int)(2 * depth), "");
}

static void print_items(FILE *out, const json_t *value, size_t depth)
{
	fputs("[", out);
	for (size_t i = 0; i < json_array_size(value); i++) {
		fprintf(out, "%s%*s", i ? ",\n" : "\n", (int)(2 * depth + 2), "");
		print_value(out, json_array_get(value, i), depth + 1, 2 * depth + 2);
	}
	fprintf(out, "\n%*s]", (int)(2 * depth), "");
}

/* On one line if it fits. used: columns of the line so far. */
static void print_value(FILE *out, const json_t *value, size_t depth, size_t used)
{
	char line[COLUMNS + 1];
	size_t size = json_dumpb(value, line, sizeof(line), JSON_ENCODE_ANY);

	if ((used + size < COLUMNS && size <= sizeof(line)) ||
	    (!json_is_object(value) && !json_is_array(value)))
		(void)json_dumpf(value, out, JSON_ENCODE_ANY);
	else if (json_is_object(value))
		print_members(out, value, depth);
	else
		print_items(out, value, depth);
}

int nm_result_schema_write(FILE *out)
{
	json_t *schema = nm_result_schema();

	if (!schema)
		return -ENOMEM;
	print_members(out, schema, 0);
	fputc('\n', out);
	json_decref(schema);
	return nm_stream_status(out);
}
