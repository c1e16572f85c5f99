/* SPDX-License-Identifier: Apache-2.0 */
/* The ring and the buckets, which workers share by atomics alone. */
#include "app/store.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/hash.h"

/* An entry is the place of a value, in units of 8 bytes, and bits of its key's hash; 0: it is
 * free. */
#define SLOTS	    8u
#define TAG_BITS    12u
#define TAG_MASK    ((UINT64_C(1) << TAG_BITS) - 1)
#define ALIGNMENT   8u
#define MARGIN	    4u /* this part of the ring, its oldest, is kept for what is under way */
#define SHARE	    4u /* the table has this part of the memory */
#define PATIENCE_NS 500000000u /* for a worker that writes, and has no CPU meanwhile */

struct bucket {
	_Atomic uint64_t slots[SLOTS];
};

/* Before each value, with the key behind it. Its fields are written before it is published. */
struct record {
	uint64_t place;
	uint64_t size;
	uint32_t flags, key_length;
};

/* The place of a value that is written now, and so many bytes of it; 0: none. A worker that loses
 * its CPU meanwhile would else write over what has taken that room since. Whoever writes holds the
 * lock, and nobody sleeps for it; the kernel tells when the process that holds it is gone. */
struct nm_store_writer {
	pthread_mutex_t lock;
	_Atomic uint64_t place, bytes;
};

struct nm_store {
	_Atomic uint64_t head; /* how much was ever reserved; the next place */
	struct nm_store_writer writers[NM_STORE_WRITERS];
	uint64_t ring_bytes, n_buckets;
	struct bucket *buckets;
	char *ring;
	size_t buckets_bytes;
};

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int init_writers(struct nm_store *store)
{
	pthread_mutexattr_t attributes;
	int error = pthread_mutexattr_init(&attributes);

	if (error)
		return error;
	error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (!error)
		error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	for (unsigned i = 0; !error && i < NM_STORE_WRITERS; i++)
		error = pthread_mutex_init(&store->writers[i].lock, &attributes);
	(void)pthread_mutexattr_destroy(&attributes);
	return error;
}

struct nm_store *nm_store_new(uint64_t memory_bytes)
{
	struct nm_store *store = map(sizeof *store);

	if (!store)
		return NULL;
	if (init_writers(store) != 0)
		return nm_store_free(store);
	store->n_buckets = 1;
	while (2 * store->n_buckets * sizeof(struct bucket) * SHARE <= memory_bytes)
		store->n_buckets *= 2;
	store->buckets_bytes = (size_t)store->n_buckets * sizeof(struct bucket);
	store->ring_bytes = (memory_bytes - store->buckets_bytes) & ~(uint64_t)(ALIGNMENT - 1);
	store->buckets = map(store->buckets_bytes);
	store->ring = map(store->ring_bytes);
	/* The first place is not 0, which stands for none. */
	atomic_init(&store->head, store->ring_bytes);
	if (store->buckets && store->ring)
		return store;
	return nm_store_free(store);
}

struct nm_store *nm_store_free(struct nm_store *store)
{
	if (!store)
		return NULL;
	if (store->buckets)
		(void)munmap(store->buckets, store->buckets_bytes);
	if (store->ring)
		(void)munmap(store->ring, store->ring_bytes);
	(void)munmap(store, sizeof *store);
	return NULL;
}

static struct record *record_at(const struct nm_store *store, uint64_t place)
{
	return (struct record *)(void *)(store->ring + place % store->ring_bytes);
}

static char *key_of(struct record *record)
{
	return (char *)(record + 1);
}

const char *nm_store_key(const struct nm_store *store, uint64_t place)
{
	return key_of(record_at(store, place));
}

/* Whether at most so many bytes were reserved from a place on. */
static bool is_within(const struct nm_store *store, uint64_t place, uint64_t bytes)
{
	/* What was read before is ordered before the load. */
	atomic_thread_fence(memory_order_acquire);
	return place + bytes >= atomic_load(&store->head);
}

bool nm_store_holds(const struct nm_store *store, uint64_t place)
{
	return is_within(store, place, store->ring_bytes);
}

/* Whether it will be held for a while: nothing is begun with a value that may be overwritten before
 * it is done. */
static bool is_young(const struct nm_store *store, uint64_t place)
{
	return is_within(store, place, store->ring_bytes - store->ring_bytes / MARGIN);
}

/* Waits a little; *until_ns: 0 before the first time. False: too long already. */
static bool is_patient(uint64_t *until_ns)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;

	if (!*until_ns)
		*until_ns = now_ns + PATIENCE_NS;
	(void)sched_yield();
	return now_ns < *until_ns;
}

/* Whether the caller has its lock now; one that was left by a worker that is gone is as any. */
static bool try_lock(struct nm_store_writer *writer)
{
	int error = pthread_mutex_trylock(&writer->lock);

	return !error || (error == EOWNERDEAD && !pthread_mutex_consistent(&writer->lock));
}

void nm_store_end_writing(struct nm_store_writer *writer)
{
	atomic_store_explicit(&writer->place, 0, memory_order_release);
	(void)pthread_mutex_unlock(&writer->lock);
}

/* Either this sees the head that has come round, or whoever has moved it sees the writer, and
 * waits. */
static struct nm_store_writer *begin_writing(struct nm_store *store, uint64_t place, uint64_t bytes,
					     uint64_t *until_ns)
{
	uint64_t i = place / ALIGNMENT;

	while (!try_lock(&store->writers[i % NM_STORE_WRITERS]))
		if (++i % NM_STORE_WRITERS == 0 && !is_patient(until_ns))
			return NULL;
	struct nm_store_writer *writer = &store->writers[i % NM_STORE_WRITERS];

	atomic_store(&writer->bytes, bytes);
	atomic_store(&writer->place, place);
	if (is_young(store, place))
		return writer;
	nm_store_end_writing(writer);
	return NULL;
}

struct nm_store_writer *nm_store_begin_writing(struct nm_store *store, uint64_t place,
					       uint64_t bytes)
{
	return begin_writing(store, place, bytes, &(uint64_t){0});
}

/* Whether it may write where others may, too: in a room of so many bytes that has been theirs when
 * the ring was last there. */
static bool is_in_way(const struct nm_store *store, const struct nm_store_writer *writer,
		      uint64_t room, uint64_t room_bytes)
{
	const uint64_t ring = store->ring_bytes, place = atomic_load(&writer->place);
	const uint64_t bytes = atomic_load(&writer->bytes);

	if (!place || place + ring >= room + room_bytes)
		return false;
	/* Of another value they say nothing. */
	if (place != atomic_load(&writer->place))
		return true;
	return place % ring < room % ring + room_bytes && room % ring < place % ring + bytes;
}

/* Seldom is there any wait, as all of the ring but the margin lies between the room and where
 * others write. False: somebody still writes there. */
static bool await_writers(struct nm_store *store, uint64_t room, uint64_t bytes, uint64_t *until_ns)
{
	for (unsigned i = 0; i < NM_STORE_WRITERS;) {
		struct nm_store_writer *writer = &store->writers[i];

		if (!is_in_way(store, writer, room, bytes))
			i++;
		else if (try_lock(writer))
			nm_store_end_writing(writer);
		else if (!is_patient(until_ns))
			return false;
	}
	return true;
}

/* The place of so many bytes, which do not go round. */
static uint64_t take_room(struct nm_store *store, uint64_t bytes)
{
	uint64_t head = atomic_load_explicit(&store->head, memory_order_relaxed), place;

	do {
		place = head;
		if (place % store->ring_bytes + bytes > store->ring_bytes)
			place += store->ring_bytes - place % store->ring_bytes;
	} while (!atomic_compare_exchange_weak(&store->head, &head, place + bytes));
	return place;
}

uint64_t nm_store_reserve(struct nm_store *store, const char *key, size_t length, uint32_t flags,
			  uint64_t size)
{
	uint64_t bytes = sizeof(struct record) + length + size, place, until_ns = 0;
	struct nm_store_writer *writer;

	bytes = (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	if (bytes > store->ring_bytes / MARGIN)
		return 0;
	/* Whoever loses its CPU in between may have lost its room. */
	do {
		place = take_room(store, bytes);
		writer = begin_writing(store, place, sizeof(struct record) + length, &until_ns);
	} while (!writer && !is_young(store, place));
	if (!writer)
		return 0;
	if (!await_writers(store, place, bytes, &until_ns)) {
		nm_store_end_writing(writer);
		return 0;
	}
	struct record *record = record_at(store, place);

	/* Who sees what is written sees the new head, too. */
	atomic_thread_fence(memory_order_release);
	*record = (struct record){
		.place = place, .size = size, .flags = flags, .key_length = (uint32_t)length};
	memcpy(key_of(record), key, length);
	nm_store_end_writing(writer);
	return place;
}

/* The record at a place, if it is that of the key: a copy, as another may be written over it. */
static bool read_record(const struct nm_store *store, uint64_t place, size_t length,
			struct record *ret)
{
	*ret = *record_at(store, place);
	return is_young(store, place) && ret->place == place && ret->key_length == length;
}

bool nm_store_write(struct nm_store *store, uint64_t place, size_t length, uint64_t offset,
		    const char *data, size_t n)
{
	struct nm_store_writer *writer =
		nm_store_begin_writing(store, place, sizeof(struct record) + length + offset + n);

	if (!writer)
		return false;
	memcpy(key_of(record_at(store, place)) + length + offset, data, n);
	nm_store_end_writing(writer);
	return true;
}

/* Whether the entry is the key's; *ret: its record. */
static bool look(const struct nm_store *store, uint64_t entry, uint64_t hash, const char *key,
		 size_t length, struct record *ret)
{
	uint64_t place = (entry >> TAG_BITS) * ALIGNMENT;

	return entry && (entry & TAG_MASK) == (hash & TAG_MASK) &&
	       read_record(store, place, length, ret) &&
	       memcmp(key_of(record_at(store, place)), key, length) == 0 && is_young(store, place);
}

static struct bucket *bucket_of(const struct nm_store *store, uint64_t hash)
{
	return &store->buckets[(hash >> TAG_BITS) & (store->n_buckets - 1)];
}

/* The slot for the key: the one that it has, or a free one, or the oldest; and what is in it.
 * Whether it is the key's. */
static bool choose_slot(const struct nm_store *store, const struct bucket *bucket, uint64_t hash,
			const char *key, size_t length, unsigned *ret, uint64_t *ret_entry)
{
	struct record record;

	*ret = 0;
	*ret_entry = UINT64_MAX;
	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t entry = atomic_load_explicit(&bucket->slots[i], memory_order_acquire);
		bool found = look(store, entry, hash, key, length, &record);

		if (!found && entry >> TAG_BITS >= *ret_entry >> TAG_BITS)
			continue;
		*ret = i;
		*ret_entry = entry;
		if (found)
			return true;
	}
	return false;
}

static enum nm_store_end compare(bool found, uint64_t place, uint64_t expected)
{
	if (expected == NM_STORE_ANY)
		return NM_STORE_DONE;
	if (!found)
		return expected == NM_STORE_NONE ? NM_STORE_DONE : NM_STORE_ABSENT;
	return expected == NM_STORE_SOME || expected == place ? NM_STORE_DONE : NM_STORE_OTHER;
}

static inline __attribute__((always_inline)) enum nm_store_end
publish(struct nm_store *store, uint64_t place, size_t length, uint64_t expected, bool expires)
{
	const char *key = key_of(record_at(store, place));

	if (!is_young(store, place))
		return NM_STORE_GONE;
	uint64_t hash = nm_hash(key, length), entry;
	const uint64_t own = expires ? 0 : place / ALIGNMENT << TAG_BITS | (hash & TAG_MASK);
	struct bucket *bucket = bucket_of(store, hash);
	unsigned slot;

	/* Another key may be published in the same slot meanwhile. */
	do {
		bool found = choose_slot(store, bucket, hash, key, length, &slot, &entry);
		enum nm_store_end end = compare(found, (entry >> TAG_BITS) * ALIGNMENT, expected);

		if (end != NM_STORE_DONE || (expires && !found))
			return end;
	} while (!atomic_compare_exchange_weak_explicit(
		&bucket->slots[slot], &entry, own, memory_order_acq_rel, memory_order_relaxed));
	return NM_STORE_DONE;
}

bool nm_store_publish(struct nm_store *store, uint64_t place, size_t length)
{
	return publish(store, place, length, NM_STORE_ANY, false) == NM_STORE_DONE;
}

enum nm_store_end nm_store_publish_over(struct nm_store *store, uint64_t place, size_t length,
					uint64_t expected, bool expires)
{
	return publish(store, place, length, expected, expires);
}

bool nm_store_find(const struct nm_store *store, const char *key, size_t length,
		   struct nm_stored *ret)
{
	uint64_t hash = nm_hash(key, length);
	const struct bucket *bucket = bucket_of(store, hash);
	struct record record;

	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t entry = atomic_load_explicit(&bucket->slots[i], memory_order_acquire);

		if (!look(store, entry, hash, key, length, &record))
			continue;
		*ret = (struct nm_stored){.place = record.place,
					  .data = key_of(record_at(store, record.place)) + length,
					  .size = record.size,
					  .flags = record.flags};
		return true;
	}
	return false;
}

enum nm_store_end nm_store_delete_at(struct nm_store *store, const char *key, size_t length,
				     uint64_t place)
{
	enum nm_store_end end = NM_STORE_ABSENT;
	uint64_t hash = nm_hash(key, length);
	struct bucket *bucket = bucket_of(store, hash);
	struct record record;

	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t entry = atomic_load_explicit(&bucket->slots[i], memory_order_acquire);

		if (!look(store, entry, hash, key, length, &record))
			continue;
		if (place != NM_STORE_ANY && place != record.place)
			end = NM_STORE_OTHER;
		else if (atomic_compare_exchange_strong_explicit(&bucket->slots[i], &entry, 0,
								 memory_order_acq_rel,
								 memory_order_relaxed))
			end = NM_STORE_DONE;
	}
	return end;
}

bool nm_store_delete(struct nm_store *store, const char *key, size_t length)
{
	return nm_store_delete_at(store, key, length, NM_STORE_ANY) == NM_STORE_DONE;
}

bool nm_store_clear(struct nm_store *store)
{
	/* The kernel has zeros for what it takes away, in all processes. */
	return madvise(store->buckets, store->buckets_bytes, MADV_REMOVE) == 0;
}
