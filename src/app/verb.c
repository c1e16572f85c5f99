/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs are called. */
#include "app/verb.h"

static const char *const names[NM_VERB__COUNT] = {
	[NM_VERB_PING] = "ping",       [NM_VERB_ECHO] = "echo",	      [NM_VERB_GET] = "get",
	[NM_VERB_SET] = "set",	       [NM_VERB_DELETE] = "delete",   [NM_VERB_HTTP] = "http",
	[NM_VERB_QUERY] = "query",     [NM_VERB_COMMAND] = "command", [NM_VERB_ADD] = "add",
	[NM_VERB_REPLACE] = "replace", [NM_VERB_APPEND] = "append",   [NM_VERB_PREPEND] = "prepend",
	[NM_VERB_INCR] = "incr",       [NM_VERB_DECR] = "decr",	      [NM_VERB_TOUCH] = "touch",
	[NM_VERB_GAT] = "gat",	       [NM_VERB_CAS] = "cas",
};

const char *nm_verb_name(enum nm_verb verb)
{
	return names[verb];
}
