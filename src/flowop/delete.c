/* SPDX-License-Identifier: Apache-2.0 */
/* delete: a key and its value. */
#include "flowop/key_opts.h"

static const struct nm_opt delete_opts[] = {NM_OPT_KEYS, NM_OPT_END};

NM_FLOWOP_OF_VERB(delete, NM_VERB_DELETE, "has the server forget a key and its value");
