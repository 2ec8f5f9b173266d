/* Every call of hopsim.h with null pointers, in wrong orders, with wrong numbers and from several threads. tests/it/c.rs compiles it with
 * the address and undefined-behaviour sanitizers and runs it: it ends with 0 where every call said what it has to say. */
#include <hopsim.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const DOCUMENT =
    "topology.torus.sides = [4, 4]\nmeasure.max_cycles = 2000000\n[[jobs]]\nprogram = \"external\"\n";

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s; last error: %s\n", __LINE__, #condition, hopsim_last_error());               \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Refused, for a reason that contains `part`. */
#define REFUSED(call, part)                                                                                            \
    do {                                                                                                               \
        EXPECT((call) == HOPSIM_REFUSED);                                                                              \
        EXPECT(strstr(hopsim_last_error(), part) != NULL);                                                             \
    } while (0)

static hopsim_simulation *begun(uint32_t threads) {
    hopsim_simulation *simulation = NULL;
    EXPECT(hopsim_new(DOCUMENT, threads, &simulation) == HOPSIM_OK);
    EXPECT(simulation != NULL);
    return simulation;
}

static int never(void *context) {
    ++*(int *)context;
    return 0;
}

static void null_pointers(void) {
    hopsim_simulation *simulation = (hopsim_simulation *)&simulation;
    const char *results = NULL;
    uint64_t number = 7;
    uint32_t phits = 7;
    size_t messages = 7;
    hopsim_message message;
    EXPECT(strlen(hopsim_version()) > 0);
    EXPECT(strlen(hopsim_last_error()) == 0);
    REFUSED(hopsim_new(NULL, 1, &simulation), "document: is NULL");
    EXPECT(simulation == NULL);
    REFUSED(hopsim_new(DOCUMENT, 1, NULL), "simulation: is NULL");
    REFUSED(hopsim_new(NULL, 0, NULL), "simulation: is NULL");
    REFUSED(hopsim_inject(NULL, 0, 1, 1, 0, &number), "simulation: is NULL");
    EXPECT(number == 7);
    REFUSED(hopsim_watch(NULL, never, &number), "simulation: is NULL");
    REFUSED(hopsim_step(NULL, 1), "simulation: is NULL");
    REFUSED(hopsim_step_until_delivered(NULL, 1), "simulation: is NULL");
    REFUSED(hopsim_results(NULL, &results), "simulation: is NULL");
    EXPECT(results == NULL);
    REFUSED(hopsim_waiting(NULL, 0, &messages), "simulation: is NULL");
    REFUSED(hopsim_cycles(NULL, 0, &number), "simulation: is NULL");
    REFUSED(hopsim_picoseconds(NULL, 0, &number), "simulation: is NULL");
    REFUSED(hopsim_phits(NULL, 1, &phits), "simulation: is NULL");
    EXPECT(number == 7 && phits == 7 && messages == 7);
    REFUSED(hopsim_waiting(NULL, 0, NULL), "messages: is NULL");
    REFUSED(hopsim_cycles(NULL, 0, NULL), "cycles: is NULL");
    REFUSED(hopsim_picoseconds(NULL, 0, NULL), "picoseconds: is NULL");
    REFUSED(hopsim_phits(NULL, 0, NULL), "phits: is NULL");
    EXPECT(hopsim_nodes(NULL, &phits, 1) == 0 && phits == 7);
    EXPECT(hopsim_now(NULL) == 0);
    EXPECT(hopsim_in_flight(NULL) == 0);
    EXPECT(hopsim_delivered(NULL, &message, 1) == 0);
    EXPECT(hopsim_delivered(NULL, NULL, SIZE_MAX) == 0);
    hopsim_free(NULL);
}

static void wrong_documents(void) {
    static const char *const documents[] = {
        "", "=", "\x80\xff", "topology = 3", "topology.torus.sides = [4, 4]", "[[jobs]]\nprogram = \"external\"",
        "topology.torus.sides = [0, 4]\n[[jobs]]\nprogram = \"external\"", "a.a.a.a.a.a.a = {", "\n\n\n[[[[[[[[[[[[",
        "topology.torus.sides = [4, 4]\n[[jobs]]\nprogram = \"external\"\n[sweep.product]\nload = [0.1, 0.2]"};
    size_t each;
    for (each = 0; each < sizeof documents / sizeof *documents; ++each) {
        hopsim_simulation *simulation = (hopsim_simulation *)&simulation;
        EXPECT(hopsim_new(documents[each], 1, &simulation) == HOPSIM_REFUSED);
        EXPECT(simulation == NULL);
        EXPECT(strlen(hopsim_last_error()) > 0);
    }
}

static void wrong_numbers(void) {
    static const uint32_t edges[] = {0, 1, 15, 16, 17, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    const size_t count = sizeof edges / sizeof *edges;
    hopsim_simulation *simulation = begun(0xffffffff);
    size_t source, destination, phits;
    hopsim_free(simulation);
    REFUSED(hopsim_new(DOCUMENT, 0, &simulation), "threads: 0");
    EXPECT(simulation == NULL);
    simulation = begun(1);
    for (source = 0; source < count; ++source) {
        for (destination = 0; destination < count; ++destination) {
            for (phits = 0; phits < 2; ++phits) {
                uint64_t number = UINT64_MAX;
                int valid = edges[source] < 16 && edges[destination] < 16 && source != destination && phits > 0;
                hopsim_status status = hopsim_inject(simulation, edges[source], edges[destination], edges[phits],
                                                     UINT64_MAX, &number);
                EXPECT(status == (valid ? HOPSIM_OK : HOPSIM_REFUSED));
                EXPECT((number == UINT64_MAX) == !valid);
            }
        }
    }
    EXPECT(hopsim_in_flight(simulation) == 6);
    for (source = 0; source < count; ++source) {
        size_t messages = 7;
        int valid = edges[source] < 16;
        EXPECT(hopsim_waiting(simulation, edges[source], &messages) == (valid ? HOPSIM_OK : HOPSIM_REFUSED));
        EXPECT(messages == (valid ? 2 : 7));
    }
    EXPECT(hopsim_step(simulation, 0) == HOPSIM_OK);
    EXPECT(hopsim_step_until_delivered(simulation, 0) == HOPSIM_OK);
    REFUSED(hopsim_step(simulation, 2000001), "cycles = 2000001");
    REFUSED(hopsim_step(simulation, UINT64_MAX), "cycles = 18446744073709551615");
    REFUSED(hopsim_step_until_delivered(simulation, (uint64_t)1 << 32), "cycles = 4294967296");
    EXPECT(hopsim_step_until_delivered(simulation, 2000000) == HOPSIM_OK);
    EXPECT(hopsim_now(simulation) > 0 && hopsim_now(simulation) <= 2000000);
    hopsim_free(simulation);
}

/* Nodes, and times and sizes by the document's units. */
static void questions(void) {
    static const char *const text = "topology.torus.sides = [4, 4]\nunits = { cycle = \"0.8 ns\", phit = \"3 B\" }\n"
                                    "[[jobs]]\nprogram = \"external\"\nplacement.list = [9, 2, 5]\n";
    uint32_t nodes[4] = {77, 77, 77, 77}, phits = 7;
    uint64_t number = 7;
    hopsim_simulation *simulation = begun(1);
    EXPECT(hopsim_nodes(simulation, NULL, 4) == 16);
    REFUSED(hopsim_cycles(simulation, 0, &number), "units: the document does not say");
    REFUSED(hopsim_picoseconds(simulation, 0, &number), "units: the document does not say");
    REFUSED(hopsim_phits(simulation, 0, &phits), "units: the document does not say");
    hopsim_free(simulation);
    EXPECT(hopsim_new(text, 1, &simulation) == HOPSIM_OK);
    EXPECT(hopsim_nodes(simulation, nodes, 2) == 3);
    EXPECT(nodes[0] == 9 && nodes[1] == 2 && nodes[2] == 77);
    EXPECT(hopsim_nodes(simulation, nodes, 4) == 3);
    EXPECT(nodes[2] == 5 && nodes[3] == 77);
    EXPECT(hopsim_cycles(simulation, 801, &number) == HOPSIM_OK && number == 2);
    EXPECT(hopsim_cycles(simulation, 800, &number) == HOPSIM_OK && number == 1);
    EXPECT(hopsim_cycles(simulation, UINT64_MAX, &number) == HOPSIM_OK && number == UINT64_MAX / 800 + 1);
    EXPECT(hopsim_picoseconds(simulation, 5, &number) == HOPSIM_OK && number == 4000);
    REFUSED(hopsim_picoseconds(simulation, UINT64_MAX, &number), "cycle = 18446744073709551615: is too much");
    EXPECT(hopsim_phits(simulation, 0, &phits) == HOPSIM_OK && phits == 1);
    EXPECT(hopsim_phits(simulation, 4, &phits) == HOPSIM_OK && phits == 2);
    REFUSED(hopsim_phits(simulation, UINT64_MAX, &phits), "bytes = 18446744073709551615: is too much");
    REFUSED(hopsim_waiting(simulation, 0, (size_t[1]){0}), "node = 0: is a node of no job");
    hopsim_free(simulation);
}

static void wrong_orders(void) {
    hopsim_simulation *simulation = begun(1);
    hopsim_message *messages = calloc(2, sizeof *messages);
    const char *results = (const char *)messages;
    char *first;
    EXPECT(messages != NULL);
    EXPECT(hopsim_delivered(simulation, messages, 2) == 0);
    EXPECT(hopsim_results(simulation, &results) == HOPSIM_REFUSED);
    EXPECT(results == NULL);
    EXPECT(hopsim_results(simulation, NULL) == HOPSIM_REFUSED);
    EXPECT(hopsim_inject(simulation, 1, 2, 4, 1, NULL) == HOPSIM_OK);
    EXPECT(hopsim_inject(simulation, 3, 4, 4, 2, NULL) == HOPSIM_OK);
    EXPECT(hopsim_inject(simulation, 5, 6, 4, 3, NULL) == HOPSIM_OK);
    EXPECT(hopsim_step(simulation, 500) == HOPSIM_OK);
    EXPECT(hopsim_delivered(simulation, NULL, 100) == 0);
    EXPECT(hopsim_delivered(simulation, messages, 0) == 0);
    EXPECT(hopsim_results(simulation, &results) == HOPSIM_OK);
    first = malloc(strlen(results) + 1);
    EXPECT(first != NULL);
    strcpy(first, results);
    EXPECT(hopsim_step(simulation, 1) == HOPSIM_REFUSED);
    EXPECT(hopsim_step_until_delivered(simulation, 1) == HOPSIM_REFUSED);
    EXPECT(hopsim_inject(simulation, 1, 2, 4, 1, NULL) == HOPSIM_REFUSED);
    EXPECT(hopsim_watch(simulation, NULL, NULL) == HOPSIM_OK);
    EXPECT(hopsim_delivered(simulation, messages, 2) == 2);
    EXPECT(hopsim_delivered(simulation, messages, 2) == 1);
    EXPECT(hopsim_delivered(simulation, messages, 2) == 0);
    EXPECT(hopsim_results(simulation, &results) == HOPSIM_OK);
    EXPECT(strcmp(first, results) == 0);
    EXPECT(hopsim_now(simulation) == 500);
    free(first);
    free(messages);
    hopsim_free(simulation);
}

static void interrupts(void) {
    hopsim_simulation *simulation = begun(1);
    int asked = 0;
    uint32_t node;
    uint64_t cycle;
    for (node = 0; node < 16; ++node) {
        EXPECT(hopsim_inject(simulation, node, (node + 5) % 16, 100000, node, NULL) == HOPSIM_OK);
    }
    EXPECT(hopsim_watch(simulation, never, &asked) == HOPSIM_OK);
    EXPECT(hopsim_step(simulation, 1000000) == HOPSIM_INTERRUPTED);
    cycle = hopsim_now(simulation);
    EXPECT(asked == 1 && cycle > 0 && cycle < 10000);
    EXPECT(hopsim_step_until_delivered(simulation, 1000000) == HOPSIM_INTERRUPTED);
    EXPECT(asked == 2 && hopsim_now(simulation) > cycle);
    EXPECT(hopsim_watch(simulation, NULL, NULL) == HOPSIM_OK);
    EXPECT(hopsim_step(simulation, 1900000) == HOPSIM_OK);
    EXPECT(hopsim_in_flight(simulation) == 0);
    hopsim_free(simulation);
}

/* A simulation of its own; what it came to, and that the last error is this thread's. */
static void *in_a_thread(void *cycle) {
    hopsim_simulation *simulation = begun(2);
    EXPECT(strlen(hopsim_last_error()) == 0);
    EXPECT(hopsim_inject(simulation, 0, 10, 1000, 0, NULL) == HOPSIM_OK);
    EXPECT(hopsim_step_until_delivered(simulation, 1000000) == HOPSIM_OK);
    *(uint64_t *)cycle = hopsim_now(simulation);
    REFUSED(hopsim_step(simulation, 3000000), "cycles = 3000000");
    hopsim_free(simulation);
    return NULL;
}

static void threads(void) {
    pthread_t running[8];
    uint64_t cycles[8];
    int each;
    for (each = 0; each < 8; ++each) {
        EXPECT(pthread_create(&running[each], NULL, in_a_thread, &cycles[each]) == 0);
    }
    for (each = 0; each < 8; ++each) {
        EXPECT(pthread_join(running[each], NULL) == 0);
        EXPECT(cycles[each] == cycles[0] && cycles[each] > 1000);
    }
}

/* Handed from thread to thread, one at a time. */
static void *ended_elsewhere(void *simulation) {
    EXPECT(hopsim_step(simulation, 1000) == HOPSIM_OK);
    hopsim_free(simulation);
    return NULL;
}

static void handed_over(void) {
    pthread_t other;
    EXPECT(pthread_create(&other, NULL, ended_elsewhere, begun(1)) == 0);
    EXPECT(pthread_join(other, NULL) == 0);
}

int main(void) {
    null_pointers();
    wrong_documents();
    wrong_numbers();
    questions();
    wrong_orders();
    interrupts();
    threads();
    handed_over();
    puts("every call said what it has to say");
    return 0;
}
