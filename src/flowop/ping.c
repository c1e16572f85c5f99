/* SPDX-License-Identifier: Apache-2.0 */
/* ping: the least that can be asked. */
#include "flowop/ask.h"

static const struct nm_opt ping_opts[] = {NM_OPT_END};

NM_FLOWOP_OF_VERB(ping, NM_VERB_PING,
		  "asks the server for a sign of life, over a connection whose app has it (ping, "
		  "redis), and waits for its answer");
