/* SPDX-License-Identifier: Apache-2.0 */
/* Who may be at the other end of data connections. */
#include "transport/peers.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "../suite.h"
#include "transport/address.h"

static struct nm_addr internet(const char *text)
{
	struct nm_addr addr = {.len = sizeof(struct sockaddr_in6)};
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&addr.sa;
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&addr.sa;

	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		addr.sa.ss_family = AF_INET6;
		return addr;
	}
	ck_assert_int_eq(inet_pton(AF_INET, text, &v4->sin_addr), 1);
	addr.sa.ss_family = AF_INET;
	addr.len = sizeof *v4;
	return addr;
}

static struct nm_addr vsock(uint32_t cid)
{
	struct nm_addr addr = {.len = sizeof(struct sockaddr_vm)};
	struct sockaddr_vm vm = {.svm_family = AF_VSOCK, .svm_cid = cid};

	memcpy(&addr.sa, &vm, sizeof vm);
	return addr;
}

static bool covers(const char *net, const char *address)
{
	struct nm_net parsed;
	struct nm_addr addr = internet(address);
	char why[200] = "";

	ck_assert_msg(nm_net_parse(net, &parsed, why, sizeof why) == 0, "%s: %s", net, why);
	return nm_net_covers(&parsed, &addr);
}

START_TEST(a_net_covers_what_begins_with_its_bits)
{
	ck_assert(covers("10.0.0.0/8", "10.255.1.2"));
	ck_assert(!covers("10.0.0.0/8", "11.0.0.0"));
	ck_assert(covers("10.1.2.128/25", "10.1.2.129"));
	ck_assert(!covers("10.1.2.128/25", "10.1.2.127"));
	ck_assert(covers("10.1.2.3", "10.1.2.3"));
	ck_assert(!covers("10.1.2.3", "10.1.2.2"));
	ck_assert(covers("0.0.0.0/0", "192.0.2.1"));
	ck_assert(!covers("0.0.0.0/0", "2001:db8::1"));
	ck_assert(covers("2001:db8::/33", "2001:db8:7fff::1"));
	ck_assert(!covers("2001:db8::/33", "2001:db8:8000::1"));
	ck_assert(covers("::/0", "::1"));
	ck_assert(!covers("::/0", "10.0.0.1"));
	ck_assert(covers("::ffff:10.0.0.0/104", "10.1.2.3"));
	ck_assert(covers("10.0.0.0/8", "::ffff:10.1.2.3"));
}
END_TEST

START_TEST(what_is_no_net_is_told)
{
	static const char *const wrong[] = {"",
					    "/8",
					    "10.0.0.0/",
					    "10.0.0.0/33",
					    "10.0.0.0/-1",
					    "::/129",
					    "host",
					    "10.0.0.0/8/8",
					    "10.0.0.0/8 ",
					    "10.0.0/8",
					    "99999999999999999999999999999999999999999999999999"};
	struct nm_net net;

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char why[200] = "";

		ck_assert_int_eq(nm_net_parse(wrong[i], &net, why, sizeof why), -EINVAL);
		ck_assert(*why);
	}
}
END_TEST

/* Seen from a host that the control connection has reached at 10.0.0.2. */
static enum nm_peer judged(const char *control, const char *allowed, bool any, const char *address)
{
	struct nm_addr own = internet("10.0.0.2"), master = internet(control),
		       addr = internet(address);
	struct nm_peers peers;
	struct nm_net net;
	char why[200];

	ck_assert_int_eq(nm_peers_init(&peers, &master, &own), 0);
	if (allowed) {
		ck_assert_int_eq(nm_net_parse(allowed, &net, why, sizeof why), 0);
		peers.allowed = &net;
		peers.n_allowed = 1;
	}
	peers.any = any;
	enum nm_peer judgement = nm_peers_judge(&peers, &addr);

	nm_peers_fini(&peers);
	return judgement;
}

START_TEST(the_other_end_of_the_control_connection_is_known)
{
	ck_assert_int_eq(judged("10.0.0.1", NULL, false, "10.0.0.1"), NM_PEER_KNOWN);
	ck_assert_int_eq(judged("10.0.0.1", NULL, false, "::ffff:10.0.0.1"), NM_PEER_KNOWN);
	ck_assert_int_eq(judged("10.0.0.1", NULL, false, "10.0.0.3"), NM_PEER_STRANGER);
	ck_assert_int_eq(judged("10.0.0.1", NULL, false, "127.0.0.1"), NM_PEER_STRANGER);
	ck_assert_int_eq(judged("2001:db8::1", NULL, false, "2001:db8::2"), NM_PEER_STRANGER);
}
END_TEST

START_TEST(who_is_allowed_has_to_prove_it)
{
	ck_assert_int_eq(judged("10.0.0.1", "10.9.0.0/16", false, "10.9.1.1"), NM_PEER_IF_PROVED);
	ck_assert_int_eq(judged("10.0.0.1", "10.9.0.0/16", false, "10.8.1.1"), NM_PEER_STRANGER);
	ck_assert_int_eq(judged("10.0.0.1", NULL, true, "10.8.1.1"), NM_PEER_IF_PROVED);
	ck_assert_int_eq(judged("10.0.0.1", "10.0.0.0/8", true, "10.0.0.1"), NM_PEER_KNOWN);
}
END_TEST

START_TEST(a_master_on_this_host_has_all_its_addresses)
{
	ck_assert_int_eq(judged("127.0.0.1", NULL, false, "127.0.0.9"), NM_PEER_KNOWN);
	ck_assert_int_eq(judged("127.0.0.1", NULL, false, "::1"), NM_PEER_KNOWN);
	ck_assert_int_eq(judged("::1", NULL, false, "127.0.0.1"), NM_PEER_KNOWN);
	ck_assert_int_eq(judged("10.0.0.2", NULL, false, "127.0.0.1"), NM_PEER_KNOWN);
	ck_assert_int_eq(judged("127.0.0.1", NULL, false, "192.0.2.1"), NM_PEER_STRANGER);
}
END_TEST

START_TEST(what_stays_on_one_host_is_of_a_master_there)
{
	struct nm_addr here = internet("127.0.0.1"), far = internet("10.0.0.1"),
		       name = {.len = 8, .sa = {.ss_family = AF_UNIX}}, own = vsock(1);
	struct nm_peers peers;

	ck_assert_int_eq(nm_peers_init(&peers, &here, &here), 0);
	ck_assert_int_eq(nm_peers_judge(&peers, &name), NM_PEER_KNOWN);
	ck_assert_int_eq(nm_peers_judge(&peers, &own), NM_PEER_KNOWN);
	own = vsock(3);
	ck_assert_int_eq(nm_peers_judge(&peers, &own), NM_PEER_STRANGER);
	nm_peers_fini(&peers);
	ck_assert_int_eq(nm_peers_init(&peers, &far, &here), 0);
	own = vsock(1);
	ck_assert_int_eq(nm_peers_judge(&peers, &name), NM_PEER_STRANGER);
	ck_assert_int_eq(nm_peers_judge(&peers, &own), NM_PEER_STRANGER);
	nm_peers_fini(&peers);
}
END_TEST

START_TEST(over_vsock_hosts_are_known_by_their_cid)
{
	struct nm_addr master = vsock(2), here = vsock(7), other = vsock(3);
	struct nm_peers peers;

	ck_assert_int_eq(nm_peers_init(&peers, &master, &here), 0);
	ck_assert_int_eq(nm_peers_judge(&peers, &master), NM_PEER_KNOWN);
	ck_assert_int_eq(nm_peers_judge(&peers, &other), NM_PEER_STRANGER);
	nm_peers_fini(&peers);
}
END_TEST

START_TEST(before_anything_is_known_anybody_may)
{
	const struct nm_peers peers = {.own = NULL};
	struct nm_addr addr = internet("192.0.2.1");

	ck_assert_int_eq(nm_peers_judge(&peers, &addr), NM_PEER_KNOWN);
	ck_assert(nm_peers_admit(NULL, &addr));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peers");
	TCase *tcase = tcase_create("peers");

	tcase_add_test(tcase, a_net_covers_what_begins_with_its_bits);
	tcase_add_test(tcase, what_is_no_net_is_told);
	tcase_add_test(tcase, the_other_end_of_the_control_connection_is_known);
	tcase_add_test(tcase, who_is_allowed_has_to_prove_it);
	tcase_add_test(tcase, a_master_on_this_host_has_all_its_addresses);
	tcase_add_test(tcase, what_stays_on_one_host_is_of_a_master_there);
	tcase_add_test(tcase, over_vsock_hosts_are_known_by_their_cid);
	tcase_add_test(tcase, before_anything_is_known_anybody_may);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
