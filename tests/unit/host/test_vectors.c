/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of the vectors of interfaces: of one together, and of each. */
#include "host/vectors.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "host/usage_priv.h"

static char tree[64];
static struct nm_vectors vectors, later, grown;
static struct nm_usage before, after, delta;

static void run(const char *words)
{
	char script[512];

	(void)snprintf(script, sizeof script, "cd %s && %s", tree, words);
	ck_assert_int_eq(system(script), 0);
}

static struct nm_nic vectors_of(const char *name)
{
	vectors.count = 0;

	struct nm_nic nic = {.rx_bytes = 5,
			     .id = {.index = 7, .address_size = 3, .address = {0x02, 0xab, 0}}};

	(void)snprintf(nic.name, sizeof nic.name, "%s", name);
	host__read_vectors(tree, &nic, &vectors);
	ck_assert_uint_eq(nic.rx_bytes, 5);
	return nic;
}

/* eth0: two vectors of a function of PCI; eth1: of virtio, whose parent has them; eth2, eth3: one
 * function for both; eth4: on a bus whose bridge has vectors; br0: no device. */
static void start(void)
{
	memset(&before, 0, sizeof before);
	memset(&after, 0, sizeof after);
	strcpy(tree, "/tmp/netmodel-vectors.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(tree));
	run("mkdir -p class/net/eth0 class/net/eth1 class/net/eth2 class/net/eth3 class/net/eth4 "
	    "class/net/br0 kernel/irq/24 kernel/irq/25 kernel/irq/26 kernel/irq/27 && "
	    "mkdir -p devices/a/msi_irqs devices/a/net/eth0 devices/b/msi_irqs "
	    "devices/b/virtio1/net/eth1 devices/c/msi_irqs devices/c/net/eth2 "
	    "devices/c/net/eth3 devices/b/d/net/eth4");
	run("touch devices/a/msi_irqs/24 devices/a/msi_irqs/25 devices/b/msi_irqs/26 "
	    "devices/c/msi_irqs/27 && "
	    "echo 1,20 >kernel/irq/24/per_cpu_count && echo 300,0 >kernel/irq/25/per_cpu_count && "
	    "echo 4 >kernel/irq/26/per_cpu_count && echo 5 >kernel/irq/27/per_cpu_count");
	run("ln -s ../../../devices/a class/net/eth0/device && "
	    "ln -s ../../../devices/b/virtio1 class/net/eth1/device && "
	    "ln -s ../../../devices/c class/net/eth2/device && "
	    "ln -s ../../../devices/c class/net/eth3/device && "
	    "ln -s ../../../devices/b/d class/net/eth4/device");
	run("for i in class/net/*; do echo 7 >$i/ifindex && echo 02:ab:00 >$i/address; done");
}

static void stop(void)
{
	run("rm -r class devices kernel && rmdir \"$PWD\"");
}

START_TEST(the_vectors_of_an_interface_are_summed_up)
{
	static const char *const bad_counts[] = {"1,x\\n", "300,0", "300,", "", "\\n", "300,\\n"};
	static const struct {
		const char *name;
		uint64_t vectors, interrupts;
	} wanted[] = {{"eth0", 2, 321}, {"eth1", 1, 4}, {"eth2", 0, 0}, {"eth3", 0, 0},
		      {"eth4", 0, 0},	{"br0", 0, 0},	{"none", 0, 0}};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct nm_nic nic = vectors_of(wanted[i].name);

		ck_assert_uint_eq(nic.vectors, wanted[i].vectors);
		ck_assert_uint_eq(nic.interrupts, wanted[i].interrupts);
	}
	for (size_t i = 0; i < sizeof bad_counts / sizeof *bad_counts; i++) {
		char write[128];

		(void)snprintf(write, sizeof write, "printf '%s' >kernel/irq/25/per_cpu_count",
			       bad_counts[i]);
		run(write);
		ck_assert_msg(vectors_of("eth0").vectors == 0, "%s", bad_counts[i]);
	}
	run("rm kernel/irq/25/per_cpu_count");
	ck_assert_uint_eq(vectors_of("eth0").interrupts, 0);
}
END_TEST

static void has_no_vectors(void)
{
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.nics[0].interrupts, 0);
	ck_assert_uint_eq(delta.nics[0].vectors, 0);
}

/* The tree is that of the network namespace in which it was mounted. */
START_TEST(the_vectors_of_another_interface_of_that_name_are_not_taken)
{
	ck_assert_uint_eq(vectors_of("eth0").vectors, 2);
	run("echo 02:ab:01 >class/net/eth0/address");
	ck_assert_uint_eq(vectors_of("eth0").vectors, 0);
	run("echo 02:ab:00 >class/net/eth0/address && echo 71 >class/net/eth0/ifindex");
	ck_assert_uint_eq(vectors_of("eth0").vectors, 0);
	run("rm class/net/eth0/ifindex");
	ck_assert_uint_eq(vectors_of("eth0").vectors, 0);
}
END_TEST

START_TEST(other_vectors_are_told_apart_by_their_numbers)
{
	struct nm_nic first = vectors_of("eth0");

	ck_assert_uint_eq(vectors_of("eth0").which, first.which);
	run("mv devices/a/msi_irqs/25 devices/a/msi_irqs/27");
	struct nm_nic second = vectors_of("eth0");

	ck_assert_uint_eq(second.vectors, first.vectors);
	ck_assert(second.which != first.which);
}
END_TEST

START_TEST(vectors_that_came_or_went_have_no_count)
{
	before = (struct nm_usage){
		.has_nics = true, .n_nics = 1, .nics = {{.interrupts = UINT32_MAX, .vectors = 2}}};
	after = before;
	after.nics[0].interrupts = 9;
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.nics[0].interrupts, 10);
	ck_assert_uint_eq(delta.nics[0].vectors, 2);
	after.nics[0].vectors = 3;
	has_no_vectors();
	after.nics[0].vectors = 2;
	after.nics[0].which = 1;
	has_no_vectors();
	after.nics[0].which = 0;
	before.nics[0].interrupts = 1000000; /* made anew under the same numbers */
	has_no_vectors();
	strcpy(after.nics[0].name, "new");
	has_no_vectors();
}
END_TEST

/* The vectors of eth0 and eth1, and their sums. */
static void read_both(struct nm_usage *usage, struct nm_vectors *ret)
{
	*usage = (struct nm_usage){.has_nics = true, .n_nics = 2};
	ret->count = 0;
	for (size_t i = 0; i < 2; i++) {
		struct nm_nic *nic = &usage->nics[i];

		nic->id = (struct nm_nic_id){
			.index = 7, .address_size = 3, .address = {0x02, 0xab, 0}};
		(void)snprintf(nic->name, sizeof nic->name, "eth%zu", i);
		host__read_vectors(tree, nic, ret);
	}
}

static const struct nm_vector *find(const struct nm_vectors *all, uint32_t irq)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].irq == irq)
			return &all->items[i];
	return NULL;
}

START_TEST(each_vector_has_its_interrupts)
{
	run("echo eth0-rx-0 >kernel/irq/24/actions && echo eth0-rx-1,x >kernel/irq/25/actions");
	read_both(&before, &vectors);
	ck_assert_uint_eq(vectors.count, 3);
	run("echo 1,27 >kernel/irq/24/per_cpu_count && echo 303,1 >kernel/irq/25/per_cpu_count && "
	    "echo 4294967295 >kernel/irq/26/per_cpu_count");
	read_both(&before, &vectors);
	run("echo 1,29 >kernel/irq/24/per_cpu_count && echo 5 >kernel/irq/26/per_cpu_count");
	read_both(&after, &later);
	nm_usage_delta(&before, &after, &delta);
	nm_vectors_delta(&vectors, &later, &delta, &grown);
	ck_assert_uint_eq(grown.count, 3);
	ck_assert_uint_eq(find(&grown, 24)->interrupts, 2);
	ck_assert_uint_eq(find(&grown, 25)->interrupts, 0);
	ck_assert_uint_eq(find(&grown, 26)->interrupts, 6); /* it began anew */
	ck_assert_uint_eq(delta.nics[0].interrupts, 2);
	ck_assert_uint_eq(delta.nics[1].interrupts, 6);
	ck_assert_str_eq(find(&grown, 24)->nic, "eth0");
	ck_assert_str_eq(find(&grown, 24)->name, "eth0-rx-0");
	ck_assert_str_eq(find(&grown, 25)->name, "eth0-rx-1");
	ck_assert_str_eq(find(&grown, 26)->nic, "eth1");
	ck_assert_str_eq(find(&grown, 26)->name, "");
}
END_TEST

START_TEST(an_interface_whose_sum_is_not_known_has_none)
{
	read_both(&before, &vectors);
	run("mv devices/a/msi_irqs/25 devices/a/msi_irqs/27");
	read_both(&after, &later);
	nm_usage_delta(&before, &after, &delta);
	nm_vectors_delta(&vectors, &later, &delta, &grown);
	ck_assert_uint_eq(grown.count, 1);
	ck_assert_str_eq(grown.items[0].nic, "eth1");
	run("rm kernel/irq/27/per_cpu_count");
	read_both(&after, &later);
	ck_assert_uint_eq(later.count, 1); /* nothing is left of the one that was half read */
	ck_assert_str_eq(later.items[0].nic, "eth1");
}
END_TEST

START_TEST(those_that_there_is_no_room_for_are_summed)
{
	after = (struct nm_usage){.n_nics = 0};
	read_both(&before, &vectors);
	vectors.count = NM_VECTORS_MAX - 1;
	before.nics[0].interrupts = before.nics[0].vectors = 0;
	host__read_vectors(tree, &before.nics[0], &vectors);
	ck_assert_uint_eq(before.nics[0].interrupts, 321);
	ck_assert_uint_eq(before.nics[0].vectors, 2);
	ck_assert_uint_eq(vectors.count, NM_VECTORS_MAX + 1);
	ck_assert_str_eq(vectors.items[NM_VECTORS_MAX - 1].nic, "eth0");
	nm_vectors_read(&after, NULL, &vectors);
	ck_assert_uint_eq(vectors.count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vectors");
	TCase *tc = tcase_create("vectors");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, the_vectors_of_an_interface_are_summed_up);
	tcase_add_test(tc, the_vectors_of_another_interface_of_that_name_are_not_taken);
	tcase_add_test(tc, other_vectors_are_told_apart_by_their_numbers);
	tcase_add_test(tc, vectors_that_came_or_went_have_no_count);
	tcase_add_test(tc, each_vector_has_its_interrupts);
	tcase_add_test(tc, an_interface_whose_sum_is_not_known_has_none);
	tcase_add_test(tc, those_that_there_is_no_room_for_are_summed);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
