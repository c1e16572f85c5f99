/* SPDX-License-Identifier: Apache-2.0 */
/* What is declared once is everywhere: each field of the tables of a host is in the document, in
 * the published schema and among the keys, without being named anywhere else. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "report/figures.h"
#include "report/report.h"
#include "sample.h"

static struct nm_result *run;
static struct nm_usage *usage;

static void set_up(void)
{
	run = sample_result();
	usage = &run->hosts[0].usage;
	run->hosts[0].has_usage = true;
	usage->has_cpu = usage->has_interrupts = usage->has_softirqs = true;
	usage->has_nics = usage->has_tcp = usage->has_psp = true;
	usage->n_nics = usage->n_psp = 1;
}

static void tear_down(void)
{
	nm_result_free(run);
}

static json_t *written(void)
{
	struct nm_runs series = sample_series(&run);
	char *text = sample_write("json", &series);
	json_t *document = json_loads(text, 0, NULL);

	ck_assert_ptr_nonnull(document);
	free(text);
	return document;
}

/* The tables, where in the usage of a host their structs stand, and where in the document. */
static const struct {
	const struct nm_field *fields;
	size_t offset;
	const char *member, *definition;
	bool is_list;
} tables[] = {
	{nm_rusage_fields, offsetof(struct nm_usage, process), "rusage", "rusage", false},
	{nm_tcp_counter_fields, offsetof(struct nm_usage, tcp), "tcp", "tcp", false},
	{nm_interrupt_fields, offsetof(struct nm_usage, interrupts), "interrupts", "interrupts",
	 false},
	{nm_nic_fields, offsetof(struct nm_usage, nics), "nics", "nic", true},
	{nm_psp_fields, offsetof(struct nm_usage, psp) + offsetof(struct nm_psp_usage, stats),
	 "psp", "psp_device", true},
};

START_TEST(a_field_of_a_host_is_in_the_document_and_its_schema)
{
	char *base = (char *)usage + tables[_i].offset;
	uint64_t value = 1000000000;

	for (const struct nm_field *field = tables[_i].fields; field->name; field++) {
		ck_assert(field->type == NM_FIELD_U64 || field->type == NM_FIELD_I64);
		*(uint64_t *)(void *)(base + field->offset) = value;
		value += 1000000000;
	}
	json_t *document = written(), *schema = nm_result_schema();
	json_t *part = json_object_get(json_array_get(json_object_get(document, "hosts"), 0),
				       tables[_i].member);
	json_t *properties = json_object_get(
		json_object_get(json_object_get(schema, "$defs"), tables[_i].definition),
		"properties");

	ck_assert_ptr_nonnull(properties);
	if (tables[_i].is_list)
		part = json_array_get(part, 0);
	value = 1;
	for (const struct nm_field *field = tables[_i].fields; field->name; field++, value++) {
		if (!field->figure)
			continue;
		json_t *shown = json_object_get(part, field->figure);
		double factor = field->unit == NM_UNIT_NS ? 1 : 1e9;

		ck_assert_msg(json_is_number(shown), "%s", field->name);
		ck_assert_msg(json_number_value(shown) == (double)value * factor, "%s",
			      field->name);
		ck_assert_msg(json_object_get(properties, field->figure) != NULL, "%s",
			      field->name);
	}
	json_decref(document);
	json_decref(schema);
}
END_TEST

START_TEST(a_counter_with_a_name_is_in_the_document_and_its_schema)
{
	uint64_t value = 1;

	for (const struct nm_field *field = nm_counts_fields; field->name; field++)
		*(uint64_t *)(void *)((char *)&run->hosts[0].counts + field->offset) = value++;
	json_t *document = written(), *schema = nm_result_schema();
	json_t *counts =
		json_object_get(json_array_get(json_object_get(document, "hosts"), 0), "counts");
	json_t *properties = json_object_get(
		json_object_get(json_object_get(schema, "$defs"), "counts"), "properties");

	value = 1;
	for (const struct nm_field *field = nm_counts_fields; field->name; field++, value++) {
		if (!field->figure)
			continue;
		ck_assert_int_eq(json_integer_value(json_object_get(counts, field->figure)),
				 (json_int_t)value);
		ck_assert_ptr_nonnull(json_object_get(properties, field->figure));
	}
	json_decref(document);
	json_decref(schema);
}
END_TEST

START_TEST(what_a_process_uses_has_its_keys)
{
	struct nm_runs series = sample_series(&run);
	char *text = sample_write("kv", &series), key[64];

	for (const struct nm_field *field = nm_rusage_fields; field->name; field++) {
		snprintf(key, sizeof key, "\n%.*s_end=", (int)strcspn(field->name, "_"),
			 field->name);
		ck_assert_msg(strstr(text, key) != NULL, "%s", key);
	}
	free(text);
}
END_TEST

/* --- the document against the schema --- */

static json_t *referred(json_t *defs, json_t *schema)
{
	const char *name = json_string_value(json_object_get(schema, "$ref"));

	return name ? json_object_get(defs, name + strlen("#/$defs/")) : NULL;
}

static bool is_of_type(const json_t *value, const char *type)
{
	if (strcmp(type, "number") == 0)
		return json_is_number(value);
	return strcmp(type, "integer") == 0   ? json_is_integer(value)
	       : strcmp(type, "null") == 0    ? json_is_null(value)
	       : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
	       : strcmp(type, "string") == 0  ? json_is_string(value)
	       : strcmp(type, "array") == 0   ? json_is_array(value)
					      : json_is_object(value);
}

/* Its type, limits and required members; what its members are is not looked at. */
static bool fits(json_t *defs, json_t *value, json_t *schema)
{
	json_t *type = json_object_get(schema, "type"), *least = json_object_get(schema, "minimum");
	json_t *required = json_object_get(schema, "required"), *base = referred(defs, schema);
	bool found = !type || (json_is_string(type) && is_of_type(value, json_string_value(type)));

	for (size_t i = 0; i < json_array_size(type); i++)
		found = found || is_of_type(value, json_string_value(json_array_get(type, i)));
	for (size_t i = 0; i < json_array_size(required); i++)
		found = found &&
			json_object_get(value, json_string_value(json_array_get(required, i)));
	if (least && json_is_number(value))
		found = found && json_number_value(value) >= json_number_value(least);
	return found && (!base || fits(defs, value, base));
}

static json_t *member_schema(json_t *defs, json_t *schema, const char *key)
{
	json_t *found = json_object_get(json_object_get(schema, "properties"), key);
	json_t *base = referred(defs, schema);

	return found || !base ? found : member_schema(defs, base, key);
}

static void hold(json_t *defs, json_t *value, json_t *schema, const char *where);

static void hold_members(json_t *defs, json_t *value, json_t *schema)
{
	bool closed = json_is_false(json_object_get(schema, "additionalProperties")) ||
		      json_is_false(json_object_get(schema, "unevaluatedProperties"));
	const char *key;
	json_t *member;

	json_object_foreach(value, key, member)
	{
		json_t *known = member_schema(defs, schema, key);

		ck_assert_msg(known || !closed || json_object_get(schema, "patternProperties"),
			      "%s is not in the schema", key);
		if (known)
			hold(defs, member, known, key);
	}
}

static void hold(json_t *defs, json_t *value, json_t *schema, const char *where)
{
	json_t *choices = json_object_get(schema, "anyOf"), *base = referred(defs, schema);
	json_t *items = json_object_get(schema, "items");
	size_t chosen = 0;

	ck_assert_msg(fits(defs, value, schema), "%s is not as the schema says", where);
	if (base)
		hold(defs, value, base, where);
	while (chosen < json_array_size(choices) &&
	       !fits(defs, value, json_array_get(choices, chosen)))
		chosen++;
	ck_assert_msg(!choices || chosen < json_array_size(choices), "%s is nothing of anyOf",
		      where);
	if (choices)
		hold(defs, value, json_array_get(choices, chosen), where);
	for (size_t i = 0; items && i < json_array_size(value); i++)
		hold(defs, json_array_get(value, i), items, where);
	if (json_is_object(value))
		hold_members(defs, value, schema);
}

/* What there is only when it was asked for, or when datagrams were sent. */
static void add_details(struct nm_result_host *host)
{
	struct nm_host_report *report = calloc(1, sizeof *report);

	ck_assert_ptr_nonnull(report);
	host->report = report;
	report->n_groups = run->n_groups;
	report->groups = calloc(run->n_groups, sizeof *report->groups);
	ck_assert_ptr_nonnull(report->groups);
	for (size_t g = 0; g < run->n_groups; g++) {
		struct nm_group_report *group = &report->groups[g];

		group->n_transactions = run->groups[g].n_phases;
		group->transactions = calloc(group->n_transactions, sizeof *group->transactions);
		group->strands = calloc(1, sizeof *group->strands);
		ck_assert(group->transactions && group->strands);
		group->n_strands = 1;
		for (size_t k = 0; k < group->n_transactions; k++) {
			struct nm_transaction_report *transaction = &group->transactions[k];

			transaction->flowops = calloc(1, sizeof *transaction->flowops);
			ck_assert_ptr_nonnull(transaction->flowops);
			transaction->n_flowops = 1;
			transaction->flowops[0].name = "read";
			transaction->window.latency = run->totals.latency;
		}
	}
	host->counters.count = 2;
	strcpy(host->counters.items[0].name, "cycles");
	strcpy(host->counters.items[0].why, "none");
	host->counters.items[1] = (struct nm_perf_value){
		.name = "x", .has_user = true, .has_kernel = true, .has_total = true, .share = 1};
	host->connections.connections = 2;
	host->connections.tls.connections = 1;
}

static void add_all(void)
{
	run->statistics = NM_STAT_ALL | NM_STAT_COUNTERS | NM_STAT_RESPONSES | NM_STAT_FLOWOP_CPU;
	for (size_t h = 0; h < run->n_hosts; h++)
		add_details(&run->hosts[h]);
	for (size_t g = 0; g < run->n_groups; g++) {
		for (size_t k = 0; k < run->groups[g].n_phases; k++) {
			struct nm_result_phase *phase = &run->groups[g].phases[k];

			phase->planned_per_s = 10;
			phase->whole.counts.messages_sent = 9;
			phase->slaves_known = k == 0;
		}
	}
	sample_add_flows(&run->totals);
}

static void hold_document(void)
{
	json_t *document = written(), *schema = nm_result_schema();

	hold(json_object_get(schema, "$defs"), document, schema, "the document");
	json_decref(document);
	json_decref(schema);
}

START_TEST(the_document_is_as_its_schema_says)
{
	hold_document();
	run->hosts[1].has_usage = false;
	usage->has_softirqs = usage->has_nics = usage->has_psp = false;
	strcpy(usage->nics_why, "not allowed");
	hold_document();
}
END_TEST

START_TEST(what_was_asked_for_is_as_the_schema_says)
{
	add_all();
	hold_document();
	json_t *document = written(),
	       *group = json_array_get(json_object_get(document, "groups"), 0);
	json_t *phase = json_array_get(json_object_get(group, "phases"), 0);

	ck_assert(json_is_object(json_object_get(phase, "messages")));
	ck_assert_uint_eq(json_array_size(json_object_get(phase, "flowops")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(group, "flow_totals")), 1);
	json_decref(document);
}
END_TEST

START_TEST(every_reference_of_the_schema_has_its_definition)
{
	json_t *schema = nm_result_schema(), *defs = json_object_get(schema, "$defs");
	char *text = json_dumps(schema, 0);
	static const char before[] = "\"#/$defs/";
	size_t count = 0;

	for (char *at = text; (at = strstr(at, before)); count++) {
		char name[64];

		at += strlen(before);
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
		ck_assert_msg(json_object_get(defs, name) != NULL, "%s", name);
	}
	ck_assert_uint_gt(count, 100);
	free(text);
	json_decref(schema);
}
END_TEST

START_TEST(the_published_schema_is_what_the_tables_say)
{
	const char *top = getenv("srcdir");
	char path[4096], *made = NULL, *read = calloc(1, 1 << 20);
	size_t size;

	snprintf(path, sizeof path, "%s/docs/netmodel-result.schema.json", top ? top : ".");
	FILE *file = fopen(path, "r"), *out = open_memstream(&made, &size);

	ck_assert(file && out && read);
	ck_assert_uint_lt(fread(read, 1, (1 << 20) - 1, file), (1 << 20) - 1);
	(void)fclose(file);
	ck_assert_int_eq(nm_result_schema_write(out), 0);
	(void)fclose(out);
	ck_assert_msg(strcmp(read, made) == 0,
		      "%s is not what netmodel --generate result-schema writes", path);
	free(made);
	free(read);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("figures");
	TCase *tc = tcase_create("figures");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, a_field_of_a_host_is_in_the_document_and_its_schema, 0,
			    sizeof tables / sizeof *tables);
	tcase_add_test(tc, a_counter_with_a_name_is_in_the_document_and_its_schema);
	tcase_add_test(tc, what_a_process_uses_has_its_keys);
	tcase_add_test(tc, the_document_is_as_its_schema_says);
	tcase_add_test(tc, what_was_asked_for_is_as_the_schema_says);
	tcase_add_test(tc, every_reference_of_the_schema_has_its_definition);
	tcase_add_test(tc, the_published_schema_is_what_the_tables_say);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
