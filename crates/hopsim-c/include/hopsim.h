/* hopsim for simulators written in C and C++: a network that another simulator drives, some cycles at a time.
 *
 * The present cycle, hopsim_now, is the next one to be simulated. A message that is injected now joins the queue of its node in that
 * cycle; a message is delivered when its last phit is at its node, and hopsim_delivered tells of all that are there by the present
 * cycle. docs/co-simulation.md has the exact rules. Nothing depends on how many cycles a step has: the same calls in the same cycles
 * give the same results, on any machine.
 *
 * A simulation may be used by one thread at a time; several may be used at once. */
#ifndef HOPSIM_H
#define HOPSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. Unless it is HOPSIM_OK, hopsim_last_error says why. */
typedef enum hopsim_status {
    HOPSIM_OK = 0,       /* as asked */
    HOPSIM_STOPPED = 1,  /* the simulation cannot go on: a deadlock, programs that wait for each other */
    HOPSIM_REFUSED = 2,  /* an argument or the document is wrong, and nothing was done */
    HOPSIM_INTERNAL = 3, /* a mistake in hopsim: the simulation refuses all further calls */
    HOPSIM_INTERRUPTED = 4 /* hopsim_watch has ended the step early; another one goes on from there */
} hopsim_status;

/* A simulation. */
typedef struct hopsim_simulation hopsim_simulation;

/* A message that is at its node. */
typedef struct hopsim_message {
    uint64_t number;      /* its number among all that were injected, from 0 */
    uint64_t tag;         /* what it was injected with */
    uint32_t source;      /* the node that it is from */
    uint32_t destination; /* the node that it is at */
    uint32_t phits;       /* its length, without the headers of its packets */
    uint64_t injected;    /* cycle in which it was injected */
    uint64_t delivered;   /* cycle in which its last phit is at its node */
} hopsim_message;

/* Version of the simulator, with a digest of its sources: it fixes all results. */
const char *hopsim_version(void);

/* Why the last call of this thread that did not end with HOPSIM_OK ended like that: valid until the next such call of the thread.
 * Empty if there was none. */
const char *hopsim_last_error(void);

/* Puts into *simulation a simulation at cycle 0, or NULL if it is refused. The document is TOML text in UTF-8 that ends with a zero
 * byte, as in a file that `hopsim run` reads, with at least one job that has program = "external"; it names no files and has no
 * sweep. Of so many threads (1 or more) as many take part as are worth while; no result depends on it. */
hopsim_status hopsim_new(const char *document, uint32_t threads, hopsim_simulation **simulation);

/* Ends a simulation. NULL is allowed. */
void hopsim_free(hopsim_simulation *simulation);

/* The present cycle; 0 of NULL. */
uint64_t hopsim_now(const hopsim_simulation *simulation);

/* Messages that have been injected and are not there; 0 of NULL. */
size_t hopsim_in_flight(const hopsim_simulation *simulation);

/* Copies up to `room` nodes that the caller drives, job by job in the order of ranks, and returns how many there are in all; 0 of NULL.
 * None are copied where nodes is NULL. */
size_t hopsim_nodes(const hopsim_simulation *simulation, uint32_t *nodes, size_t room);

/* Puts into *messages how many messages wait at a node: they have been injected there, and in the cycles so far some packet of them has
 * not been admitted. The queue has no end; who wants to be held back as by a full buffer injects no more while some wait. */
hopsim_status hopsim_waiting(const hopsim_simulation *simulation, uint32_t node, size_t *messages);

/* Puts into *cycles the first cycle that begins so many picoseconds after cycle 0, or later. This and the two functions after it need the
 * document's `units`, which say how long a cycle and how large a phit is. */
hopsim_status hopsim_cycles(const hopsim_simulation *simulation, uint64_t picoseconds, uint64_t *cycles);

/* Puts into *picoseconds the picosecond in which a cycle begins, counted from cycle 0. hopsim_cycles of it is that cycle again, unless
 * cycles are shorter than a picosecond. */
hopsim_status hopsim_picoseconds(const hopsim_simulation *simulation, uint64_t cycle, uint64_t *picoseconds);

/* Puts into *phits the length of a message with so many bytes: a phit at least. */
hopsim_status hopsim_phits(const hopsim_simulation *simulation, uint64_t bytes, uint32_t *phits);

/* Injects a message of so many phits (1 ... 4294967295) in the present cycle. Source and destination are two nodes, by their numbers in
 * the network, of the same job with program = "external". The tag comes back with the message. Puts its number into *number unless
 * that is NULL. */
hopsim_status hopsim_inject(hopsim_simulation *simulation, uint32_t source, uint32_t destination, uint32_t phits,
                            uint64_t tag, uint64_t *number);

/* Returns whether a step goes on: 0 for no. */
typedef int (*hopsim_goes_on)(void *context);

/* From now on every step of the simulation asks goes_on(context) after every 256 simulated cycles or so, in the thread that called it.
 * Where that returns 0 the step ends early with HOPSIM_INTERRUPTED; what was simulated stays, and no result depends on it. A flag that a
 * signal handler or another thread sets is a good thing to look at. The function calls nothing of hopsim with this simulation, and it
 * returns: no longjmp, no exception. NULL: nobody is asked, as at first. */
hopsim_status hopsim_watch(hopsim_simulation *simulation, hopsim_goes_on goes_on, void *context);

/* Simulates so many cycles. Those in which nothing happens take no time. */
hopsim_status hopsim_step(hopsim_simulation *simulation, uint64_t cycles);

/* Simulates until a message is there that hopsim_delivered has not returned, but `most` cycles at most. */
hopsim_status hopsim_step_until_delivered(hopsim_simulation *simulation, uint64_t most);

/* Copies up to `room` messages that are there and that no call has returned, in the order of the cycles in which they were delivered,
 * then of their numbers, and returns how many; none where simulation or messages is NULL. Call it again if it returns `room`. */
size_t hopsim_delivered(hopsim_simulation *simulation, hopsim_message *messages, size_t room);

/* Puts into *results what has been measured up to the present cycle, JSON text: {"summary": record of all jobs, "jobs": [record of each
 * job]}. That ends the simulation: further steps and messages are refused. The text is valid until hopsim_free. */
hopsim_status hopsim_results(hopsim_simulation *simulation, const char **results);

#ifdef __cplusplus
}
#endif

#endif
