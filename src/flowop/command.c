/* SPDX-License-Identifier: Apache-2.0 */
/* command: any command of Redis. */
#include "flowop/ask.h"

static const struct nm_opt command_opts[] = {
	{.name = "keys",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, keys),
	 .help = "the keyspace, by its name, of which each request has one key, where the text has "
		 "__key__"},
	{.name = "size",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct nm_opts_ask, size),
	 .max = UINT64_C(1) << 30,
	 .def = "0",
	 .help = "bytes of what stands for __data__; a law draws them anew each time"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(
	command, NM_VERB_COMMAND,
	"has a Redis that is not netmodel do what the attribute text says; an error counts "
	"as refused");
