/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes. The first goes through the characters and mends the inside of tags, comments and
 * declarations; it keeps a list of the tags. The second goes through that list and mends the
 * nesting, unless it is right as it is. */
#include "profile/legacy/normalise.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/diag.h"
#include "profile/legacy/normalise_priv.h"

static size_t kept(const struct nm_remarks *remarks)
{
	return remarks->count < NM_MAX_REMARKS ? remarks->count : NM_MAX_REMARKS;
}

/* Adds the remarks of both passes to diags, by line, as far as its owner wants to have them. */
static void tell(const char *file, const struct nm_remarks *a, const struct nm_remarks *b,
		 struct nm_diags *diags)
{
	size_t i = 0, k = 0;

	if (diags->form_told == NM_FORM_NOTHING)
		return;
	if (diags->form_told == NM_FORM_NUMBER && a->count + b->count > 1) {
		nm_diag_warn(diags, file, 0,
			     "%zu places are not well-formed XML, read as uperf reads them; "
			     "--check lists them",
			     a->count + b->count);
		return;
	}
	while (i < kept(a) || k < kept(b)) {
		bool first = i < kept(a) && (k == kept(b) || a->items[i].line <= b->items[k].line);
		const struct nm_remark *next = first ? &a->items[i++] : &b->items[k++];

		nm_diag_warn(diags, file, next->line, "%s",
			     next->text ? next->text
					: "not well-formed XML, but read all the same");
	}
	if (a->count + b->count > i + k)
		nm_diag_warn(diags, file, 0,
			     "%zu more places are not well-formed XML, but read all the same",
			     a->count + b->count - i - k);
}

static void remarks_fini(struct nm_remarks *remarks)
{
	for (size_t i = 0; i < kept(remarks); i++)
		free(remarks->items[i].text);
}

int nm_profile_normalise(const char *file, const char *text, size_t length, char **ret_text,
			 size_t *ret_length, struct nm_diags *diags)
{
	struct nm_tags tags = {.count = 0};
	struct nm_remarks remarks = {.count = 0};
	struct nm_text nested = {.data = NULL}, *made = NULL;
	int r = 0;

	nm_tags_scan(&tags, text, length);
	if (!tags.text.failed && nm_nesting_mend(&tags, &nested, &remarks))
		made = &nested;
	else if (tags.remarks.count)
		made = &tags.text;
	/* Terminated, and there also when nothing is left. */
	if (made)
		nm_text_put(made, "", 1);
	if (tags.text.failed || nested.failed) {
		r = -ENOMEM;
	} else if (made) {
		tell(file, &tags.remarks, &remarks, diags);
		*ret_text = made->data;
		*ret_length = made->used - 1;
		made->data = NULL;
		r = 1;
	}
	remarks_fini(&tags.remarks);
	remarks_fini(&remarks);
	nm_text_fini(&tags.text);
	free(tags.items);
	nm_text_fini(&nested);
	return r;
}
