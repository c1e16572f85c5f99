/* SPDX-License-Identifier: Apache-2.0 */
/* What a result is held against. The first line is the text of a requirement: what is taken is
 * judged, and what is refused says why. The rest is an earlier result. */
#include <string.h>

#include "fuzz.h"
#include "plan/plan.h"
#include "report/compare.h"
#include "report/report.h"
#include "report/requirement.h"
#include "report/sweep_read.h"

static struct nm_phase phases[] = {{.name = (char[]){""}}, {.name = (char[]){"work"}}};
static struct nm_group groups[] = {{.name = (char[]){"a b"}, .phases = phases, .n_phases = 2},
				   {.name = (char[]){"a b"}, .phases = phases, .n_phases = 2}};
static char *hosts[] = {(char[]){"10.0.0.7"}};
static const struct nm_plan plan = {.groups = groups, .n_groups = 2, .hosts = hosts, .n_hosts = 1};

static struct nm_result *make_result(void)
{
	struct nm_result *result = nm_result_new();

	demand(result != NULL);
	result->complete = true;
	result->profile.name = strdup("t");
	result->totals.seconds = 1;
	result->groups = calloc(2, sizeof(*result->groups));
	result->hosts = calloc(1, sizeof(*result->hosts));
	demand(result->groups && result->hosts);
	result->n_groups = 2;
	result->n_hosts = 1;
	for (size_t i = 0; i < 2; i++)
		result->groups[i].name = strdup("a b");
	result->hosts[0].name = strdup("master");
	return result;
}

static void write_all(const struct nm_runs *series)
{
	static const char *const formats[] = {"text", "json", "kv", "junit"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		demand(out != NULL);
		demand(nm_report_find(formats[i])->write(series, out) == 0);
		fclose(out);
		free(text);
	}
}

static void take(const char *text, const char *document, size_t length)
{
	struct nm_result *result = make_result();
	struct nm_view view = {.cpus = NULL};
	const struct nm_runs series = {.runs = &result, .n_runs = 1, .view = &view};
	struct nm_requirements requirements = {.count = 0};
	struct nm_verdicts verdicts = {.count = 0};
	struct nm_baseline baseline = {.path = NULL};
	struct nm_comparison comparison = {.path = NULL};
	struct nm_earlier_search search;
	char why[256] = "";

	if (nm_requirements_add(&requirements, text, "--require", *text == ' ', &plan, why,
				sizeof why) == 0) {
		demand(requirements.count > 0);
		demand(nm_requirements_judge(&requirements, &series, &verdicts, NULL) == 0);
		view.verdicts = &verdicts;
	} else {
		demand(*why && requirements.count == 0);
	}
	*why = '\0';
	if (nm_baseline_parse("file", document, length, &baseline, why, sizeof why) == 0) {
		demand(nm_compare(&baseline, &series, &comparison) == 0);
		view.comparison = &comparison;
	} else {
		demand(*why);
	}
	*why = '\0';
	demand(nm_earlier_search_parse("file", document, length, &result->percentiles, &search, why,
				       sizeof why) == 0 ||
	       *why);
	nm_earlier_search_fini(&search);
	write_all(&series);
	nm_comparison_fini(&comparison);
	nm_baseline_fini(&baseline);
	nm_verdicts_fini(&verdicts);
	nm_requirements_fini(&requirements);
	nm_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *stop = size ? memchr(data, '\n', size) : NULL;
	size_t length = stop ? (size_t)(stop - (const char *)data) : size;
	char *text = strndup(size ? (const char *)data : "", length);

	if (!text)
		return 0;
	take(text, stop ? stop + 1 : "", stop ? size - length - 1 : 0);
	free(text);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const char *const words[] = {
		"latency.p99",
		"errors",
		"group.a_b.",
		"group.a_b#2.",
		"transaction.0.",
		"host.",
		"master.",
		"cpu.busy",
		" <= ",
		" == ",
		"10ms",
		"5%",
		"1k",
		"\n{\"schema\": \"netmodel.result/1\"}",
		"\"totals\":",
		"\"repeat\"",
		"\"runs\": [",
		"null",
		"1e308",
	};
	const char *word = words[pick(&seed, sizeof words / sizeof *words)];

	if (pick(&seed, 2) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	return fuzz_splice(data, size, max_size, pick(&seed, size + 1), 0, word, strlen(word));
}
