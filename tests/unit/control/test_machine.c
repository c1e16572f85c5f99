/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a machine, by what machine-id(5) holds. */
#include "control/machine.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

#define ID "0123456789abcdef0123456789abcdef"

START_TEST(a_name_is_of_its_id)
{
	char name[NM_MACHINE_NAME], again[NM_MACHINE_NAME], other[NM_MACHINE_NAME];

	nm_machine_name(ID, name);
	nm_machine_name(ID, again);
	nm_machine_name("1123456789abcdef0123456789abcdef", other);
	/* printf 'netmodel probe %s' ID | sha256sum | head -c 32 */
	ck_assert_str_eq(name, "57a6e5031d84f14f8c03bc96b0ee99fb");
	ck_assert_str_eq(name, again);
	ck_assert_str_ne(name, other);
	ck_assert_str_ne(name, ID);
}
END_TEST

START_TEST(what_is_no_id_has_no_name)
{
	static const char *const texts[] = {"", "uninitialized", "0123456789ABCDEF0123456789abcdef",
					    ID "0", "0123456789abcdef0123456789abcde"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char name[NM_MACHINE_NAME] = "?";

		nm_machine_name(texts[i], name);
		ck_assert_msg(!*name, "\"%s\"", texts[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("machine");
	TCase *names = tcase_create("names");

	tcase_add_test(names, a_name_is_of_its_id);
	tcase_add_test(names, what_is_no_id_has_no_name);
	suite_add_tcase(suite, names);
	return run_suite(suite);
}
