/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of messages, as a peer could write them. */
#ifndef NM_TESTS_UNIT_CONTROL_JSON_TEXT_H
#define NM_TESTS_UNIT_CONTROL_JSON_TEXT_H

#include <check.h>
#include <jansson.h>

/* Owned by the caller. */
static inline json_t *json_of(const char *text)
{
	json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_msg(body != NULL, "%s is not JSON", text);
	return body;
}

#endif
