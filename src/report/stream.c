/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a stream, schema netmodel.stream/1: made of the figures of the result document. */
#include "report/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "report/common.h"
#include "report/figures.h"

#define SCHEMA "netmodel.stream/1"
#define DIGITS 15 /* as the document has them */

/* Takes the object. */
static int write_line(json_t *line, FILE *out)
{
	const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(DIGITS);

	if (!line)
		return -ENOMEM;
	char *text = json_dumps(line, flags);

	json_decref(line);
	if (!text)
		return -ENOMEM;
	fprintf(out, "%s\n", text);
	free(text);
	return nm_stream_status(out);
}

int nm_stream_begin(const struct nm_result *result, FILE *out)
{
	const struct nm_at at = {.result = result, .item = result};
	char start[40];

	(void)nm_format_utc(result->wall.start_ns, start, sizeof start);
	return write_line(json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "type",
				    "begin", "schema", SCHEMA, "version",
				    nm_json_text(result->id.version), "run_id",
				    nm_json_text(result->id.run_id), "profile",
				    nm_object_json(&nm_profile_object, &at), "start", start,
				    "interval_s", nm_json_real(result->grid.interval_s), "warmup_s",
				    nm_json_real(result->grid.warmup_s), "cooldown_s",
				    nm_json_real(result->grid.cooldown_s)),
			  out);
}

/* "type" and "host", before the members of an object. */
static int write_row(const char *type, const char *host, const struct nm_object *object,
		     const struct nm_at *at, FILE *out)
{
	json_t *head = json_pack("{s:s, s:o}", "type", type, "host", nm_json_text(host));

	return write_line(nm_json_join(head, nm_object_json(object, at)), out);
}

int nm_stream_interval(const struct nm_result *result, const struct nm_result_interval *row,
		       FILE *out)
{
	const struct nm_at document = {.result = result, .item = result};
	const struct nm_at at = nm_at_item(&document, row, (size_t)(row - result->intervals));

	return write_row("interval", result->n_hosts ? result->hosts[0].name : NULL,
			 &nm_interval_object, &at, out);
}

int nm_stream_host_interval(const struct nm_result *result, const char *host,
			    const struct nm_host_interval *row, FILE *out)
{
	const struct nm_at document = {.result = result, .item = result};
	const struct nm_at at = nm_at_item(&document, row, 0);

	return write_row("host_interval", host, &nm_host_interval_object, &at, out);
}

int nm_stream_end(const struct nm_result *result, FILE *out)
{
	const struct nm_at at = {.result = result, .item = result};

	return write_line(json_pack("{s:s, s:o, s:o}", "type", "end", "run",
				    nm_object_json(&nm_run_object, &at), "totals",
				    nm_object_json(&nm_totals_object, &at)),
			  out);
}
