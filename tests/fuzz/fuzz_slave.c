/* SPDX-License-Identifier: Apache-2.0 */
/* A session of a slave, with a master that says anything in any order: messages, one a line. The
 * session ends, and has served only who had something to prepare. */
#include <string.h>

#include "../unit/control/fake_engine.h"
#include "control/slave/session.h"
#include "fuzz.h"
#include "talk.h"

/* What a master says in a whole run. */
static const struct fuzz_line lines[] = {
	{"hello", NULL},
	{"prepare", NULL},
	{"connect", "{\"endpoints\":[]}"},
	{"ping", NULL},
	{"begin", "{\"phase\":0}"},
	{"wait 2000000", NULL},
	{"begin", "{\"phase\":1,\"measured\":true,\"usage_from_ns\":0}"},
	{"follow", "{\"phase\":1}"},
	{"renew", NULL},
	{"heartbeat", NULL},
	{"wait 2000000", NULL},
	{"finish", NULL},
	{"bye", NULL},
	{NULL, NULL},
};

static enum nm_session_end serve(const uint8_t *data, size_t size)
{
	struct nm_slave_options options;

	nm_slave_options_default(&options);
	options.in_process = true;
	options.max_flows = 1000;
	fake_script = (struct fake_script){.works = true, .passes = 6};
	enum nm_session_end end = nm_session_serve(talk_begin(data, size), &options, NULL);

	talk_end();
	return end;
}

/* A target that no longer comes through a session would find nothing. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t size;
	const uint8_t *whole = talk_whole(lines, &size);

	(void)argc, (void)argv;
	demand(serve(whole, size) == NM_SESSION_SERVED);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	demand(serve(data, size) != NM_SESSION_SERVED || memmem(data, size, "prepare", 7));
	return 0;
}
