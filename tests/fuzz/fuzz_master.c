/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a master, with a slave that says anything in any order: messages, one a line. The run
 * ends, is complete only if the slave has told its result, and its result can be written in each
 * format. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "../unit/control/fake_engine.h"
#include "control/master/connect.h"
#include "control/master/run.h"
#include "fuzz.h"
#include "profile/tree.h"
#include "report/report.h"
#include "talk.h"

#define PROFILE                                                                                    \
	"<profile name='t'><group nthreads='2'>"                                                   \
	"<transaction iterations='1'><flowop type='connect' options='remotehost=peer "             \
	"protocol=tcp'/></transaction>"                                                            \
	"<transaction duration='30ms'><flowop type='write' options='size=10'/>"                    \
	"<flowop type='read' options='size=10'/></transaction>"                                    \
	"<transaction iterations='1'><flowop type='disconnect'/></transaction>"                    \
	"</group></profile>"

/* What a slave says in a whole run. Both its workers do as many passes as the master's. */
#define COUNTS(n, bytes) "\"counts\":[" n "," bytes "," bytes "]"
static const struct fuzz_line lines[] = {
	{"welcome", NULL},
	{"ready", "{\"endpoints\":[[0,0,[\"4711\",\"4711\"]]]}"},
	{"armed", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"pong", NULL},
	{"began", "{\"phase\":0}"},
	{"done", "{\"phase\":0,\"totals\":[1,1]," COUNTS("2", "200") "}"},
	{"wait 1000000", NULL},
	{"began", "{\"phase\":1}"},
	{"wait 40000000", NULL},
	{"heartbeat", "{\"progress\":1}"},
	{"done", "{\"phase\":1,\"totals\":[6,6]," COUNTS("12", "1200") "}"},
	{"wait 1000000", NULL},
	{"began", "{\"phase\":2}"},
	{"done", "{\"phase\":2,\"totals\":[1,1]," COUNTS("2", "200") "}"},
	{"wait 1000000", NULL},
	{"result", NULL},
	{NULL, NULL},
};
static const uint8_t *input;
static size_t input_size;

int __wrap_nm_master_connect(struct nm_master *master, const char *name, uint64_t until_ns,
			     int *ret_fd, char *why, size_t why_size);

int __wrap_nm_master_connect(struct nm_master *master, const char *name, uint64_t until_ns,
			     int *ret_fd, char *why, size_t why_size)
{
	(void)master, (void)name, (void)until_ns, (void)why, (void)why_size;
	*ret_fd = talk_begin(input, input_size);
	return 0;
}

static void on_log(void *arg, const char *line)
{
	(void)arg;
	demand(strlen(line) < 4096);
}

static void write_reports(struct nm_result *result)
{
	for (const struct nm_report *const *report = nm_reports; *report; report++) {
		struct nm_runs runs = {.runs = &result, .n_runs = 1};
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		demand(out != NULL);
		(void)(*report)->write(&runs, out);
		demand(fclose(out) == 0);
		if (strcmp((*report)->name, "json") == 0) {
			json_t *document = json_loadb(text, size, 0, NULL);

			demand(document != NULL);
			json_decref(document);
		}
		free(text);
	}
}

static enum nm_run_status run(const uint8_t *data, size_t size)
{
	struct nm_diags diags = {0};
	struct nm_node *root = nm_profile_parse("t.xml", PROFILE, strlen(PROFILE), &diags);
	struct nm_plan *plan = root ? nm_plan_compile(root, "t.xml", &diags) : NULL;
	const struct nm_params none = {0};
	const struct nm_job job = {.path = "t.xml",
				   .text = PROFILE,
				   .text_length = strlen(PROFILE),
				   .root = root,
				   .plan = plan,
				   .params = &none};
	struct nm_run_options options;
	struct nm_result *result = NULL;

	demand(plan != NULL);
	input = data;
	input_size = size;
	nm_run_options_default(&options);
	options.in_process = true;
	options.interval_ns = 10000000;
	options.interrupt_fd = -1;
	options.samples_flows = options.samples_tcp = true;
	options.events.log = on_log;
	fake_script = (struct fake_script){.works = true, .passes = 6};
	enum nm_run_status status = nm_run(&job, &options, &result, &diags);

	talk_end();
	demand(status == NM_RUN_COMPLETE || diags.n_errors || !result ||
	       result->verdict.incomplete_why);
	if (result)
		write_reports(result);
	nm_result_free(result);
	nm_plan_free(plan);
	nm_node_free(root);
	nm_diags_fini(&diags);
	return status;
}

/* A target that no longer comes through a run would find nothing. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t size;
	const uint8_t *whole = talk_whole(lines, &size);

	(void)argc, (void)argv;
	demand(run(whole, size) == NM_RUN_COMPLETE);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	demand(run(data, size) != NM_RUN_COMPLETE || memmem(data, size, "\"result\"", 8));
	return 0;
}
