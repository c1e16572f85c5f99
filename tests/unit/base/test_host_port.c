/* SPDX-License-Identifier: Apache-2.0 */
#include "base/host_port.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static const struct {
	const char *text, *host;
	uint16_t port;
} right[] = {
	{"h", "h", 0},
	{"web-1.example", "web-1.example", 0},
	{"web-1.example:80", "web-1.example", 80},
	{"10.0.0.7", "10.0.0.7", 0},
	{"10.0.0.7:1", "10.0.0.7", 1},
	{"10.0.0.7:65535", "10.0.0.7", 65535},
	{"::1", "::1", 0},
	{"fd00::7:20000", "fd00::7:20000", 0},
	{"[::1]", "::1", 0},
	{"[::1]:20001", "::1", 20001},
	{"[fe80::1%eth0]:7", "fe80::1%eth0", 7},
	{"2:20000", "2", 20000},
};

START_TEST(hosts_and_ports_are_parted)
{
	char host[NM_HOST_MAX + 1];
	uint16_t port = 7;

	ck_assert_int_eq(nm_host_port_split(right[_i].text, host, &port), 0);
	ck_assert_str_eq(host, right[_i].host);
	ck_assert_uint_eq(port, right[_i].port);
}
END_TEST

static const char *const wrong[] = {
	"",	":",	  ":80",    "h:",  "h:0",   "h:65536", "h:http", "h:-1",	"h:1k",
	"[::1", "[::1]x", "[::1]:", "[h]", "[h]:1", "[]",      "[]:1",	 "[::1]:99999",
};

START_TEST(what_has_none_of_the_forms)
{
	char host[NM_HOST_MAX + 1] = "as before";
	uint16_t port = 7;

	ck_assert_int_eq(nm_host_port_split(wrong[_i], host, &port), -EINVAL);
	ck_assert_str_eq(host, "as before");
	ck_assert_uint_eq(port, 7);
}
END_TEST

START_TEST(a_host_has_its_length)
{
	char text[NM_HOST_MAX + 8] = "", host[NM_HOST_MAX + 1];
	uint16_t port;

	memset(text, 'h', NM_HOST_MAX);
	ck_assert_int_eq(nm_host_port_split(text, host, &port), 0);
	ck_assert_uint_eq(strlen(host), NM_HOST_MAX);
	text[NM_HOST_MAX] = ':';
	text[NM_HOST_MAX + 1] = '1';
	ck_assert_int_eq(nm_host_port_split(text, host, &port), 0);
	memset(text, 'h', NM_HOST_MAX + 1);
	ck_assert_int_eq(nm_host_port_split(text, host, &port), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("host_port");
	TCase *tc = tcase_create("host_port");

	tcase_add_loop_test(tc, hosts_and_ports_are_parted, 0, sizeof right / sizeof *right);
	tcase_add_loop_test(tc, what_has_none_of_the_forms, 0, sizeof wrong / sizeof *wrong);
	tcase_add_test(tc, a_host_has_its_length);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
