/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: of each type, of each option that a flowop or a transport has, and lists that
 * the command line takes. The first byte says which; the rest is the value. */
#include <string.h>

#include "base/ascii.h"
#include "base/diag.h"
#include "base/opt.h"
#include "base/units.h"
#include "flowop/flowop.h"
#include "fuzz.h"
#include "host/cpus.h"
#include "host/perf.h"
#include "plan/plan.h"
#include "profile/tree.h"
#include "result/result.h"

static void check_types(const char *value, enum nm_reading reading)
{
	char why[160] = "";

	for (int type = 0; type < NM_TYPE__COUNT; type++) {
		int r = nm_type_check((enum nm_type)type, reading, value, why, sizeof why);

		/* What is refused is refused for a reason. */
		demand(r == 0 || *why);
		demand(memchr(why, '\0', sizeof why) != NULL);
	}
}

/* A number that is read can be printed, and what is printed is read as nearly the same. */
static void check_units(const char *value, enum nm_reading reading)
{
	char text[64];
	uint64_t whole;
	double real;

	if (nm_parse_size(value, reading, &whole) >= 0)
		nm_format_size((double)whole, text, sizeof text);
	if (nm_parse_count(value, reading, &whole) >= 0)
		nm_format_count((double)whole, text, sizeof text);
	if (nm_parse_duration(value, reading, &whole) >= 0)
		nm_format_duration((double)whole / 1e9, text, sizeof text);
	if (nm_parse_rate(value, reading, &real) >= 0)
		demand(real >= 0 && real <= 1e300);
	if (nm_parse_bitrate(value, &real) >= 0) {
		demand(real >= 0 && real <= 1e300);
		nm_format_bitrate(real, text, sizeof text);
	}
}

static void check_lists(const char *value)
{
	struct nm_cpu_list cpus = {0};
	struct nm_percentiles percentiles;
	char why[256];
	int error = nm_cpu_list_parse(value, &cpus);

	if (error)
		nm_cpu_list_explain(value, error, why, sizeof why);
	else
		nm_cpu_list_fini(&cpus);
	(void)nm_cpu_list_check_form(value);
	(void)nm_perf_check_form(value);
	if (nm_percentiles_parse(value, &percentiles) == 0)
		for (size_t i = 0; i < percentiles.count; i++)
			demand(percentiles.pct[i] >= 0 && percentiles.pct[i] <= 100);
}

/* As the options of a flowop: each word is one. */
static void check_flowop(const struct nm_flowop *op, const char *options)
{
	struct nm_diags diags = {0};
	struct nm_node *root = nm_node_new("profile", 1), *group = nm_node_new("group", 1);
	struct nm_node *transaction = nm_node_new("transaction", 1),
		       *flowop = nm_node_new("flowop", 1);
	struct nm_node *nodes[] = {root, group, transaction, flowop};

	demand(root && group && transaction && flowop);
	nm_node_set_attr(flowop, "type", op->name);
	nm_node_set_attr(flowop, "options", options);
	for (int i = 0; i < 3; i++) {
		nodes[i]->children = calloc(1, sizeof(struct nm_node *));
		demand(nodes[i]->children != NULL);
		nodes[i]->children[0] = nodes[i + 1];
		nodes[i]->n_children = 1;
	}
	struct nm_plan *plan = nm_plan_compile(root, "fuzz", &diags);

	demand(plan != NULL || diags.n_errors > 0);
	nm_plan_free(plan);
	nm_node_free(root);
	nm_diags_fini(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_ops = 0;

	while (nm_flowops[n_ops])
		n_ops++;
	if (size == 0)
		return 0;
	char *value = strndup((const char *)data + 1, size - 1);

	if (!value)
		return 0;
	for (int reading = NM_READING_NETMODEL; reading <= NM_READING_UPERF; reading++) {
		check_types(value, (enum nm_reading)reading);
		check_units(value, (enum nm_reading)reading);
	}
	check_lists(value);
	/* What no XML text can have never comes so far. */
	if (!nm_find_invalid_xml_char(value))
		check_flowop(nm_flowops[data[0] % n_ops], value);
	free(value);
	return 0;
}

static const char *any_option(const struct nm_opt *table, unsigned *seed)
{
	size_t n = 0;

	while (table && table[n].name)
		n++;
	return n ? table[pick(seed, n)].name : "size";
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const char *const values[] = {
		"1",   "0",	"-1",	     "4k",     "1g",  "99999999999999999999",
		"yes", "no",	"rand(1,2)", "10Mb/s", "1ms", "127.0.0.1",
		"::1", "local", "tcp",	     "udp",    "ssl", "unix",
		"1e9", ".5",
	};
	size_t n_ops = 0, n_transports = 0;

	while (nm_flowops[n_ops])
		n_ops++;
	while (nm_transports[n_transports])
		n_transports++;
	if (size == 0 || pick(&seed, 3) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	const char *name =
		pick(&seed, 2) ? any_option(nm_flowops[pick(&seed, n_ops)]->opts, &seed)
			       : any_option(nm_transports[pick(&seed, n_transports)]->opts, &seed);
	const char *value = values[pick(&seed, sizeof values / sizeof *values)];
	size_t at = 1 + pick(&seed, size);

	size = fuzz_splice(data, size, max_size, at, 0, " ", 1);
	size = fuzz_splice(data, size, max_size, at, 0, value, strlen(value));
	size = fuzz_splice(data, size, max_size, at, 0, "=", 1);
	return fuzz_splice(data, size, max_size, at, 0, name, strlen(name));
}
