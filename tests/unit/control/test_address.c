/* SPDX-License-Identifier: Apache-2.0 */
/* Which masters are of the slave's own host, over the internet and over vsock. */
#include "control/address.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "../suite.h"
#include "transport/address.h"

static struct nm_addr internet(const char *text)
{
	struct nm_addr addr = {.len = sizeof(struct sockaddr_in)};
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&addr.sa;

	in->sin_family = AF_INET;
	ck_assert_int_eq(inet_pton(AF_INET, text, &in->sin_addr), 1);
	return addr;
}

static struct nm_addr cid(const char *text)
{
	struct nm_addr addr;

	ck_assert_int_eq(nm_addr_parse_cid(text, &addr), 0);
	return addr;
}

static bool is_own(struct nm_addr remote, struct nm_addr local)
{
	return nm_address_is_own(&remote, &local);
}

START_TEST(a_host_is_its_own_where_the_way_to_it_begins)
{
	ck_assert(is_own(internet("127.0.0.1"), internet("127.0.0.1")));
	ck_assert(is_own(internet("127.1.2.3"), internet("127.0.0.1")));
	ck_assert(is_own(internet("10.0.0.7"), internet("10.0.0.7")));
	ck_assert(!is_own(internet("10.0.0.7"), internet("10.0.0.8")));
}
END_TEST

START_TEST(a_virtual_machine_and_its_host_are_two)
{
	ck_assert(is_own(cid("1"), cid("1")));
	ck_assert(is_own(cid("3"), cid("3")));
	ck_assert(!is_own(cid("3"), cid("2")));
	ck_assert(!is_own(cid("2"), cid("3")));
	ck_assert(!is_own(cid("3"), cid("1")));
	ck_assert(!is_own(cid("0"), cid("2")));
}
END_TEST

/* No CID names the host of an internet address. */
START_TEST(families_do_not_mix)
{
	ck_assert(!is_own(cid("3"), internet("0.0.0.3")));
	ck_assert(!is_own(internet("0.0.0.1"), cid("1")));
}
END_TEST

START_TEST(a_cid_is_a_number)
{
	static const char *const none[] = {
		"",   "x",   "1x",	   " 1",	 "+1",
		"-1", "0x1", "4294967295", "4294967297", "99999999999999999999"};
	struct nm_addr addr;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		ck_assert_msg(nm_addr_parse_cid(none[i], &addr) == -EINVAL, "\"%s\"", none[i]);
	ck_assert_int_eq(nm_addr_parse_cid("4294967294", &addr), 0);
	ck_assert_uint_eq(nm_addr_cid(&addr), 4294967294u);
	ck_assert_uint_eq(addr.len, sizeof(struct sockaddr_vm));
}
END_TEST

START_TEST(addresses_as_text)
{
	char text[NM_ADDRESS_TEXT];
	struct nm_addr at = cid("3");

	ck_assert_str_eq(nm_addr_text(&at, text, sizeof text), "vsock:3");
	((struct sockaddr_vm *)(void *)&at.sa)->svm_cid = VMADDR_CID_ANY;
	ck_assert_str_eq(nm_addr_text(&at, text, sizeof text), "vsock:any");
	((struct sockaddr_vm *)(void *)&at.sa)->svm_port = 20000;
	ck_assert_uint_eq(nm_address_port(&at), 20000);
	at = internet("10.0.0.7");
	ck_assert_str_eq(nm_addr_text(&at, text, sizeof text), "10.0.0.7");
}
END_TEST

/* Of a name that getaddrinfo(3) has not taken: the interface is wrong, or something else. */
static const struct {
	const char *name, *says; /* NULL: something else is */
} unknown[] = {
	{"fe80::1%lo", NULL},
	{"fe80::1%1", NULL},
	{"fe80::1%none", "this host has no interface of that name"},
	{"fe80::1%1x", "this host has no interface of that name"},
	{"10.0.0.1%lo",
	 "an interface stands only behind an address of each link, as in fe80::1%eth0"},
	{"fe80::1", NULL},
};

START_TEST(a_wrong_interface_is_told_and_no_other)
{
	const char *says = unknown[_i].says ? unknown[_i].says : gai_strerror(EAI_ADDRFAMILY);

	ck_assert_str_eq(nm_address_why_unknown(unknown[_i].name, EAI_ADDRFAMILY, 0), says);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("address");
	TCase *tc = tcase_create("address");

	tcase_add_test(tc, a_host_is_its_own_where_the_way_to_it_begins);
	tcase_add_test(tc, a_virtual_machine_and_its_host_are_two);
	tcase_add_test(tc, families_do_not_mix);
	tcase_add_test(tc, a_cid_is_a_number);
	tcase_add_test(tc, addresses_as_text);
	tcase_add_loop_test(tc, a_wrong_interface_is_told_and_no_other, 0,
			    sizeof unknown / sizeof *unknown);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
