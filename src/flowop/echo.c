/* SPDX-License-Identifier: Apache-2.0 */
/* echo: text that comes back. */
#include "flowop/ask.h"

/* A worker has memory for the longest request. */
#define MAX_SIZE 65536u

static const struct nm_opt echo_opts[] = {
	{.name = "size",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct nm_opts_ask, size),
	 .min = 1,
	 .max = MAX_SIZE,
	 .def = "64",
	 .help = "bytes of the text; a law draws them anew each time"},
	NM_OPT_END};

NM_FLOWOP_OF_VERB(
	echo, NM_VERB_ECHO,
	"sends `size` bytes of text and their CRC-32, over a connection with app=echo, and "
	"waits until all of it has come back as it was");
