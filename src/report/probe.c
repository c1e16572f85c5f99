/* SPDX-License-Identifier: Apache-2.0 */
/* The document of --probe, schema netmodel.probe/1. */
#include "report/probe.h"

#include <errno.h>

#include "report/figures.h"
#include "report/report.h"

/* -1 is not known. */
static json_t *number_or_null(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *interfaces(const struct nm_probe *probe)
{
	json_t *all = json_array();

	for (size_t i = 0; i < probe->n_interfaces; i++) {
		const struct nm_probe_interface *one = &probe->interfaces[i];
		json_t *addresses = json_array();

		for (size_t a = 0; a < one->n_addresses; a++)
			(void)json_array_append_new(addresses, nm_json_text(one->addresses[a]));
		(void)json_array_append_new(
			all,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
				  nm_json_text(one->name), "driver", nm_json_known(one->driver),
				  "firmware", nm_json_known(one->firmware), "bus",
				  nm_json_known(one->bus), "mtu", number_or_null(one->mtu),
				  "speed_mbps", number_or_null(one->speed_mbps), "node",
				  number_or_null(one->node), "addresses", addresses));
	}
	return all;
}

static json_t *nodes(const struct nm_probe *probe)
{
	json_t *all = json_array();

	for (size_t i = 0; i < probe->n_nodes; i++)
		(void)json_array_append_new(all, json_pack("{s:i, s:s}", "node",
							   (int)probe->nodes[i].node, "cpus",
							   probe->nodes[i].cpus));
	return all;
}

/* Figures that are not to be had here, by the member of a result that they would be in. */
static json_t *missing(const struct nm_usage *usage)
{
	const struct {
		const char *what, *why;
		bool is_there;
	} all[] = {
#define PART(part) {#part, usage->part##_why, usage->has_##part},
		NM_USAGE_PARTS(PART)
#undef PART
	};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!all[i].is_there)
			(void)json_array_append_new(list,
						    json_pack("{s:s, s:o}", "what", all[i].what,
							      "why", nm_json_text(all[i].why)));
	return list;
}

int nm_probe_write(const struct nm_probed *probed, FILE *out)
{
	const struct nm_probe *probe = probed->probe;
	const struct nm_at at = {.item = probed->facts};
	json_t *document = json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "schema", "netmodel.probe/1",
		"version", probed->version, "facts", nm_object_json(&nm_facts_object, &at),
		"machine_id", nm_json_known(probed->machine_id), "command_line",
		nm_json_known(probe->command_line), "microcode", nm_json_known(probe->microcode),
		"irqbalance", probe->irqbalance, "interfaces", interfaces(probe), "nodes",
		nodes(probe), "missing", missing(probed->usage));
	int error = document ? nm_json_write(document, out) : -ENOMEM;

	json_decref(document);
	return error;
}
