/* SPDX-License-Identifier: Apache-2.0 */
/* The result document, schema netmodel.result/1 (docs/netmodel-result.schema.json). Several runs
 * give the document of the last one with a member "repeat" that holds the totals of each and their
 * summary. All of it is in tables of figures, see figure.h. */
#include "report/report.h"

#include <errno.h>

#include "report/common.h"
#include "report/figures.h"

/* Decimal digits that a double always keeps: 0.1 is written 0.1. */
#define DIGITS 15

int nm_json_write(const json_t *document, FILE *out)
{
	int failed = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));

	fputc('\n', out);
	int error = nm_stream_status(out);
	return error ? error : failed ? -ENOMEM : 0;
}

static int write_json(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *last = nm_runs_last(series);
	const struct nm_at top = {.runs = series, .result = last, .item = last};

	if (!last)
		return -EINVAL;
	json_t *document = nm_object_json(&nm_document_object, &top);

	if (!document)
		return -ENOMEM;
	int error = nm_json_write(document, out);

	json_decref(document);
	return error;
}

const struct nm_report nm_report_json = {
	.name = "json",
	.takes = NM_REPORT_TAKES_COMPARISON | NM_REPORT_TAKES_SWEEP,
	.write = write_json,
};
