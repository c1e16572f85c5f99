/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of documents that have figures with names, of results and of series of them. */
#include <errno.h>
#include <stdlib.h>

#include "report/common.h"
#include "report/figures.h"
#include "report/named.h"
#include "result/pool.h"

/* The hosts without the rows of the grid, of which there may be millions. */
static json_t *hosts_json(const struct nm_at *at)
{
	json_t *hosts = json_array();

	for (size_t i = 0; hosts && i < at->result->n_hosts; i++) {
		struct nm_result_host host = at->result->hosts[i];
		struct nm_at item = nm_at_item(at, &host, i);

		host.n_intervals = 0;
		if (json_array_append_new(hosts, nm_object_json(&nm_host_object, &item)) != 0) {
			json_decref(hosts);
			return NULL;
		}
	}
	return hosts;
}

json_t *nm_named_of_result(const struct nm_runs *series, const struct nm_result *result)
{
	const struct nm_at at = {.runs = series, .result = result, .item = result};

	return json_pack("{s:o, s:o, s:o}", "totals", nm_object_json(&nm_totals_object, &at),
			 "groups",
			 nm_objects_json(&nm_group_object, &at, result->groups, result->n_groups,
					 sizeof(*result->groups)),
			 "hosts", hosts_json(&at));
}

int nm_named_series_read(const struct nm_runs *series, struct nm_named_series *ret_series)
{
	*ret_series = (struct nm_named_series){
		.runs = calloc(series->n_runs + 1, sizeof(struct nm_result *)),
		.items = calloc(series->n_runs + 1, sizeof(json_t *))};
	int error = nm_named_list(&ret_series->list);

	if (!ret_series->runs || !ret_series->items)
		return -ENOMEM;
	for (size_t i = 0; i < series->n_runs && !error; i++) {
		bool last = i + 1 == series->n_runs && ret_series->count == 0;
		json_t *document;

		if (!series->runs[i]->complete && !last)
			continue;
		document = nm_named_of_result(series, series->runs[i]);
		error = document ? 0 : -ENOMEM;
		if (!document)
			break;
		ret_series->runs[ret_series->count] = series->runs[i];
		ret_series->items[ret_series->count++] = document;
	}
	return error;
}

int nm_named_series_pool(const struct nm_runs *series, struct nm_named_series *named)
{
	struct nm_result pool;

	if (named->count < 2) {
		named->pooled = named->count ? json_incref(named->items[0]) : NULL;
		return 0;
	}
	if (nm_pool_runs(named->runs, named->count, &pool) == 0)
		named->pooled = nm_named_of_result(series, &pool);
	nm_pool_fini(&pool);
	return named->pooled ? 0 : -ENOMEM;
}

void nm_named_series_fini(struct nm_named_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		json_decref(series->items[i]);
	json_decref(series->pooled);
	free((void *)series->items);
	free((void *)series->runs);
	nm_named_fini(&series->list);
}
