/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a profile and reads it again, as a master and its slave do. */
#include <string.h>

#include "base/diag.h"
#include "fuzz.h"
#include "profile/tree.h"

void fuzz_print_and_read(const struct nm_node *root)
{
	struct nm_diags diags = {0};
	char *text = nm_profile_print(root);

	demand(text && strlen(text) <= NM_PROFILE_MAX_BYTES);
	struct nm_node *again = nm_profile_parse("again", text, strlen(text), &diags);
	char *same = again ? nm_profile_print(again) : NULL;

	demand(same && strcmp(text, same) == 0);
	free(same);
	nm_node_free(again);
	nm_diags_fini(&diags);
	free(text);
}
