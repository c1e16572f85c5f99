/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of an interface's own vectors (MSI), from sysfs. */
#include "host/vectors.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "host/procfile.h"
#include "host/usage_priv.h"

const struct nm_field nm_vector_fields[] = {
	NM_FIELD_CHARS_OF(struct nm_vector, nic),
	NM_FIELD(U32, struct nm_vector, irq),
	NM_FIELD_CHARS_OF(struct nm_vector, name, .doc = "That its driver has given it."),
	NM_FIELD(U64, struct nm_vector, interrupts),
	NM_FIELD_END,
};

static bool is_number(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* "0,14681", of each CPU, and the end of the line: of very many CPUs the kernel writes a page, and
 * leaves the rest out. */
static int add_counts(const char *text, uint64_t *add)
{
	for (;; text++) {
		char *end;

		*add += strtoull(text, &end, 10);
		if (end == text || (*end != ',' && *end != '\n'))
			return -EINVAL;
		if (*end == '\n')
			return 0;
		text = end;
	}
}

static int read_count(const char *sys, uint32_t irq, uint64_t *ret)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE) + 1;
	char *text = malloc(size);
	int r = text ? 0 : -ENOMEM;

	*ret = 0;
	if (r == 0 &&
	    nm_procfile_readf(text, size, "%s/kernel/irq/%u/per_cpu_count", sys, irq) <= 0)
		r = -EINVAL;
	if (r == 0)
		r = add_counts(text, ret);
	free(text);
	return r;
}

/* Of the first driver that handles it, as a vector has no other. */
static void read_name(const char *sys, struct nm_vector *vector)
{
	char line[256];

	nm_procfile_line(line, sizeof line, "%s/kernel/irq/%u/actions", sys, vector->irq);
	(void)snprintf(vector->name, sizeof vector->name, "%.*s", (int)strcspn(line, ","), line);
}

/* A function of PCI with several interfaces does not say which vector is whose. */
static bool has_other_interfaces(const char *device)
{
	char path[PATH_MAX];
	size_t count = 0;

	if (snprintf(path, sizeof path, "%s/net", device) >= (int)sizeof path)
		return true;
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		count += *entry->d_name != '.';
	if (folder)
		(void)closedir(folder);
	return count != 1;
}

/* The vectors of a device; those of a virtio device are its parent's, the function of PCI. */
static DIR *open_vectors(const char *device)
{
	static const char *const places[] = {"msi_irqs", "../msi_irqs"};
	const char *last = strrchr(device, '/');
	size_t tries = last && strncmp(last, "/virtio", strlen("/virtio")) == 0 ? 2 : 1;
	DIR *folder = NULL;

	for (size_t i = 0; !folder && i < tries; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof path, "%s/%s", device, places[i]) < (int)sizeof path)
			folder = opendir(path);
	}
	return folder;
}

static int read_vector(const char *sys, const char *irq, struct nm_nic *nic,
		       struct nm_vectors *vectors)
{
	struct nm_vector vector = {.irq = (uint32_t)strtoul(irq, NULL, 10)};
	int r = read_count(sys, vector.irq, &vector.interrupts);

	if (r < 0)
		return r;
	nic->interrupts += vector.interrupts;
	nic->which += nm_rng(0, vector.irq);
	nic->vectors++;
	if (vectors->count < NM_VECTORS_MAX) {
		read_name(sys, &vector);
		(void)snprintf(vector.nic, sizeof vector.nic, "%s", nic->name);
		vectors->items[vectors->count] = vector;
	}
	vectors->count++;
	return 0;
}

void host__read_vectors(const char *sys, struct nm_nic *nic, struct nm_vectors *add)
{
	char path[PATH_MAX], device[PATH_MAX];
	struct nm_nic read = *nic;
	size_t count = add->count;
	const struct dirent *entry;
	int r = 0;

	(void)snprintf(path, sizeof path, "%s/class/net/%s/device", sys, nic->name);
	if (!realpath(path, device) || !host__is_nic_in_sysfs(sys, nic->name, &nic->id) ||
	    has_other_interfaces(device))
		return;
	DIR *folder = open_vectors(device);

	while (folder && r == 0 && (entry = readdir(folder)))
		if (is_number(entry->d_name))
			r = read_vector(sys, entry->d_name, &read, add);
	if (folder)
		(void)closedir(folder);
	if (r == 0)
		*nic = read;
	else
		add->count = count;
}

static bool has_moved(const struct nm_nic *nic, const struct nm_usage *before)
{
	const struct nm_nic *old = host__find_nic(before, nic->name);

	return old && old->vectors &&
	       (old->rx_packets != nic->rx_packets || old->tx_packets != nic->tx_packets);
}

void nm_vectors_read(struct nm_usage *usage, const struct nm_usage *before,
		     struct nm_vectors *ret_vectors)
{
	ret_vectors->count = 0;
	for (size_t i = 0; i < usage->n_nics; i++) {
		struct nm_nic *nic = &usage->nics[i];

		if (before ? has_moved(nic, before) : nic->id.is_up)
			host__read_vectors("/sys", nic, ret_vectors);
	}
	if (ret_vectors->count > NM_VECTORS_MAX)
		ret_vectors->count = 0;
}

static const struct nm_vector *find(const struct nm_vectors *vectors, uint32_t irq)
{
	for (size_t i = 0; i < vectors->count; i++)
		if (vectors->items[i].irq == irq)
			return &vectors->items[i];
	return NULL;
}

void nm_vectors_delta(const struct nm_vectors *before, const struct nm_vectors *after,
		      const struct nm_usage *delta, struct nm_vectors *ret_delta)
{
	ret_delta->count = 0;
	for (size_t i = 0; i < after->count; i++) {
		const struct nm_vector *vector = &after->items[i], *old = find(before, vector->irq);
		const struct nm_nic *nic = host__find_nic(delta, vector->nic);
		struct nm_vector *next = &ret_delta->items[ret_delta->count];

		if (!old || !nic || !nic->vectors)
			continue;
		*next = *vector;
		next->interrupts = host__counted(old->interrupts, vector->interrupts);
		ret_delta->count++;
	}
}
