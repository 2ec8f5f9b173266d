/* Processors load lines from a memory over a network that hopsim simulates. The same as co_simulation.py:
 *   cargo build --release -p hopsim-c
 *   cc -I crates/hopsim-c/include examples/co_simulation.c -L target/release -lhopsim -o co_simulation
 *   LD_LIBRARY_PATH=target/release ./co_simulation examples/co_simulation.toml */
#include <hopsim.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 72, PROCESSORS = 8, MEMORY = 40, LOADS = 20, ACCESS_CYCLES = 40, REQUEST_PHITS = 1, LINE_PHITS = 8 };
typedef struct { uint64_t cycle; uint32_t source, destination, phits; } event; /* what will be sent */

static event events[2 * PROCESSORS];
static int count; /* of events */

static void check(hopsim_status status) {
    if (status == HOPSIM_OK) return;
    fprintf(stderr, "%s\n", hopsim_last_error());
    exit((int)status);
}

static uint32_t compute_cycles(uint32_t processor, uint32_t load) { return 50 + (37 * processor + 11 * load) % 90; }

static int is_before(event a, event b) {
    if (a.cycle != b.cycle) return a.cycle < b.cycle;
    return a.source != b.source ? a.source < b.source : a.destination < b.destination;
}

static int first(void) {
    int best = 0;
    for (int i = 1; i < count; i++) if (is_before(events[i], events[best])) best = i;
    return best;
}

int main(int arguments, char **argument) {
    static char document[4096];
    static uint32_t loads[NODES];
    FILE *file = arguments == 2 ? fopen(argument[1], "r") : NULL;
    if (!file || !fread(document, 1, sizeof document - 1, file)) return perror("document"), 2;
    hopsim_simulation *network;
    check(hopsim_new(document, 1, &network));
    for (uint32_t node = 0; node < 9 * PROCESSORS; node += 9)
        events[count++] = (event){compute_cycles(node, 0), node, MEMORY, REQUEST_PHITS};
    for (hopsim_message message; count > 0 || hopsim_in_flight(network) > 0;) {
        for (int i; count > 0 && events[i = first()].cycle == hopsim_now(network); events[i] = events[--count])
            check(hopsim_inject(network, events[i].source, events[i].destination, events[i].phits, 0, NULL));
        /* Up to the next event of ours, or until a message is there. */
        check(hopsim_step_until_delivered(network, count > 0 ? events[first()].cycle - hopsim_now(network) : 100000));
        while (hopsim_delivered(network, &message, 1)) {
            uint32_t node = message.destination;
            uint64_t now = hopsim_now(network);
            if (node == MEMORY)
                events[count++] = (event){now + ACCESS_CYCLES, MEMORY, message.source, LINE_PHITS};
            else if (++loads[node] < LOADS)
                events[count++] = (event){now + compute_cycles(node, loads[node]), node, MEMORY, REQUEST_PHITS};
            else
                printf("processor %" PRIu32 " is done at cycle %" PRIu64 "\n", node, now);
        }
    }
    printf("%d messages in %" PRIu64 " cycles\n", 2 * LOADS * PROCESSORS, hopsim_now(network));
    hopsim_free(network);
    return 0;
}
